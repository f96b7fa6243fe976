"""Scripts with side effects are traced without these.

Each script is run by plain Python first, which must have the side effect: otherwise the test would prove nothing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch

from tests.support.worker import Worker

MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width=2):
        super().__init__()
        self.lin = nn.Linear(4, width)

    def forward(self, x):
        return self.lin(x)
"""

TRAINING = (
    MODEL
    + """
import logging, os, subprocess, sys, multiprocessing

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
os.makedirs("runs", exist_ok=True)
logging.basicConfig(filename="train.log", level=logging.INFO)
subprocess.run([sys.executable, "-c", "open('from_subprocess', 'w')"])
os.system("echo > from_shell")
for epoch in range(2):
    loss = net(torch.randn(8, 4)).sum()
    loss.backward()
    optimizer.step()
    logging.info("epoch")
    torch.save(net.state_dict(), f"runs/{epoch}.pt")
open("result.txt", "w").write(str(loss.item()))
"""
)

ARGUMENTS = (
    """
import argparse, os
parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--out", required=True)
parser.add_argument("--width", type=int, default=3)
args = parser.parse_args()
os.makedirs(args.out)
"""
    + MODEL.replace("width=2", "width=args.width")
    + """
net = Net()
open(os.path.join(args.out, "done"), "w")
"""
)

DOWNLOADS = (
    MODEL
    + """
import urllib.request

ADDRESS = "http://127.0.0.1:PORT/"
data = urllib.request.urlopen(ADDRESS + "data").read()
urllib.request.urlretrieve(ADDRESS + "labels", "labels.txt")
torch.hub.set_dir("hub")
labels = open("labels.txt", "rb").read()

class Pretrained(Net):
    def __init__(self):
        super().__init__()
        state = torch.hub.load_state_dict_from_url(ADDRESS + "weights.pt")
        self.load_state_dict({name.removeprefix("module."): value for name, value in state.items()})

    def classes(self):
        return labels

net = Pretrained()
"""
)

IN_THE_MODEL = """
import multiprocessing, os, socket, subprocess, sys
import torch
from torch import nn

def work():
    open("from_process", "w")

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        for action in (
            lambda: open("from_open", "w"),
            lambda: os.mkdir("from_mkdir"),
            lambda: torch.save(torch.ones(2), "from_torch.pt"),
            lambda: subprocess.run([sys.executable, "-c", "open('from_subprocess', 'w')"]),
            lambda: os.system("echo > from_shell"),
            lambda: run_process(multiprocessing.get_context("fork")),
            lambda: socket.create_connection(("127.0.0.1", PORT)).sendall(b"GET /connection HTTP/1.0\\r\\n\\r\\n"),
        ):
            try:
                action()
            except OSError:
                pass
        self.lin = nn.Linear(4, 2)

    def forward(self, x):
        return self.lin(x)

def run_process(context):
    process = context.Process(target=work)
    process.start()
    process.join()

if not __name__.startswith("traced"):
    Net()
"""


@dataclass
class Network:
    """Local servers in place of the network, with the requests that they received."""

    port: int
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    weights = tmp_path_factory.mktemp("weights") / "weights.pt"
    torch.save({"module.lin.weight": torch.zeros(2, 4), "module.lin.bias": torch.zeros(2)}, weights)
    served = weights.read_bytes()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            there.asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(served)))
            self.end_headers()
            self.wfile.write(served)

        def log_message(self, *args: object) -> None:
            """Print nothing: the test reads the requests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        there = Network(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield there
        server.shutdown()
        thread.join()


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a script into a folder of its own."""

    def script(text: str, folder: str) -> Path:
        path = tmp_path / folder / "script.py"
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
        return path

    return script


def run_plainly(script: Path, *arguments: str) -> None:
    subprocess.run([sys.executable, script.name, *arguments], cwd=script.parent, check=True, timeout=120)


def files_beside(script: Path) -> set[str]:
    return {path.name for path in script.parent.iterdir()} - {script.name}


def assert_traced(worker: Worker, script: Path, name: str) -> None:
    report = worker.report(f"{script}:{name}", f"{name}()", "torch.randn(2, 4)", roots=(str(script.parent),))
    assert report.complete, report.problems
    assert report.nodes[-1].output == {"shape": [2, 2], "dtype": "float32"}


def test_a_training_script_without_a_guard_is_not_run(worker: Worker, script: Callable[..., Path]) -> None:
    plain, traced = script(TRAINING, "plain"), script(TRAINING, "traced")
    run_plainly(plain)
    assert files_beside(plain) == {"runs", "train.log", "from_subprocess", "from_shell", "result.txt"}
    assert_traced(worker, traced, "Net")
    instance = worker.report(f"{traced}:net", "net", "torch.randn(2, 4)")
    assert instance.complete
    assert files_beside(traced) == set()


def test_a_script_that_parses_arguments_gets_their_defaults(worker: Worker, script: Callable[..., Path]) -> None:
    plain, traced = script(ARGUMENTS, "plain"), script(ARGUMENTS, "traced")
    with pytest.raises(subprocess.CalledProcessError):
        run_plainly(plain)
    run_plainly(plain, "somewhere", "--out", "made")
    assert files_beside(plain) == {"made"}
    report = worker.report(f"{traced}:Net", "Net()", "torch.randn(2, 4)")
    assert report.nodes[-1].output == {"shape": [2, 3], "dtype": "float32"}
    assert files_beside(traced) == set()


def test_a_script_that_downloads_at_import_asks_nobody(
    worker: Worker, script: Callable[..., Path], network: Network
) -> None:
    text = DOWNLOADS.replace("PORT", str(network.port))
    plain, traced = script(text, "plain"), script(text, "traced")
    run_plainly(plain)
    assert files_beside(plain) == {"labels.txt", "hub"}
    assert network.asked == ["/data", "/labels", "/weights.pt"]
    network.asked.clear()
    assert_traced(worker, traced, "Pretrained")
    assert files_beside(traced) == set()
    assert network.asked == []


def test_a_model_that_writes_connects_and_starts_processes_is_kept_from_it(
    any_worker: Worker, script: Callable[..., Path], network: Network
) -> None:
    text = IN_THE_MODEL.replace("PORT", str(network.port))
    plain = script(text, "plain")
    traced = script(text.replace('if not __name__.startswith("traced"):\n    Net()\n', ""), "traced")
    run_plainly(plain)
    left = {"from_open", "from_mkdir", "from_torch.pt", "from_subprocess", "from_shell", "from_process"}
    assert files_beside(plain) == left
    assert network.asked == ["/connection"]
    network.asked.clear()
    assert_traced(any_worker, traced, "Net")
    assert files_beside(traced) == set()
    assert network.asked == []


CUDA = """
import torch
from torch import nn

try:
    torch.cuda.set_device(0)
except RuntimeError:
    pass  # The stand-in has none: it was asked.
torch.backends.cudnn.benchmark = True
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.cuda.set_device(0)
        with torch.cuda.device(0):
            self.lin = nn.Linear(4, 2, device="cuda").cuda()
        self.register_buffer("ones", torch.ones(2).to(device).cuda())
        torch.cuda.synchronize()

    def forward(self, x):
        return self.lin(x.cuda())
"""

DRIVER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(const char *what) {
    FILE *file = fopen(getenv("STAND_IN_DRIVER_LOG"), "a");
    fprintf(file, "%s\n", what);
    fclose(file);
}
int cuInit(unsigned flags) { say("cuInit"); return 100; }
int cuDriverGetVersion(int *version) { *version = 13020; return 0; }
static int nothing(void) { return 100; }
int cuGetProcAddress_v2(const char *name, void **found, int version, unsigned long long flags, int *status) {
    *found = (void *)nothing;
    if (!strcmp(name, "cuInit")) *found = (void *)cuInit;
    if (!strcmp(name, "cuDriverGetVersion")) *found = (void *)cuDriverGetVersion;
    if (!strcmp(name, "cuGetProcAddress")) *found = (void *)cuGetProcAddress_v2;
    if (status) *status = 0;
    return 0;
}
int cuGetProcAddress(const char *name, void **found, int version, unsigned long long flags) {
    return cuGetProcAddress_v2(name, found, version, flags, 0);
}
"""
"""CUDA's driver as far as torch asks it whether there is a device; it writes down that it was asked."""


@pytest.mark.skipif(torch.version.cuda is None, reason="this torch knows no CUDA, and so can touch no device")
@pytest.mark.skipif(shutil.which("cc") is None, reason="the stand-in for CUDA's driver must be compiled")
def test_a_script_that_opens_a_cuda_device_asks_no_driver(
    script: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, log = tmp_path / "driver.c", tmp_path / "asked"
    source.write_text(DRIVER, encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "libcuda.so.1", source], check=True)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    monkeypatch.setenv("STAND_IN_DRIVER_LOG", str(log))
    path = script(CUDA, "scripts")
    run_plainly(path)
    assert log.read_text() == "cuInit\n"
    worker = Worker()
    try:
        # Torch itself asks once, when it makes its first fake tensor.
        log.unlink()
        assert_traced(worker, path, "Net")
    finally:
        worker.close()
    assert not log.exists()


def test_temporary_files_are_made_as_ever(worker: Worker, script: Callable[..., Path]) -> None:
    makes = "tempfile.TemporaryFile(); tempfile.NamedTemporaryFile()\n        self.lin ="
    assert_traced(worker, script("import tempfile\n" + MODEL.replace("self.lin =", makes), "traced"), "Net")
