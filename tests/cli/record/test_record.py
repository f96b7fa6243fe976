"""``fxlsp record``: a command of the user, recorded and otherwise as it is."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fxlsp.recording.recording_file import read_recording
from fxlsp.recording.session import startup_folder
from tests.cli.conftest import Fxlsp
from tests.support.waiting import PATIENCE, eventually

NET = """
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 2)

    def forward(self, x):
        return self.linear(x)
"""
TRAIN = """
import torch
from net import Net

Net(3)(torch.randn(4, 3))
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


def recorded(path: Path | None = None) -> list[tuple[str, str, int]]:
    """Return the name of each recorded class, its program and the number of its calls."""
    file = path or next((Path(os.environ["XDG_CACHE_HOME"]) / "fxlsp").glob("recording-*.json"))
    return [(each.name, each.source, len(each.calls)) for each in read_recording(str(file))]


def test_a_script_is_recorded_and_its_models_are_traced_by_what_it_did(fxlsp: Fxlsp) -> None:
    ran = fxlsp("record", "--", sys.executable, "train.py")
    assert ran.code == 0
    assert ran.err.startswith("fxlsp: recorded 1 model, 1 with inputs, in ")
    assert recorded() == [("Net", "train.py", 1)]
    first = fxlsp("trace", "net.py:Net").out.partition("\n")[0]
    assert re.fullmatch(
        r"net\.py:Net: Net\(width=3\)\(torch\.randn\(4, 3\)\) \(recorded: train\.py, .*\), train mode", first
    )
    recipe = fxlsp("trace", "net.py:Net", "--format", "json").json["recipe"]
    assert recipe == {"init": "Net(width=3)", "inputs": "torch.randn(4, 3)", "source": "recording"}


def test_a_module_and_pytest_are_recorded_too(fxlsp: Fxlsp, project: Path) -> None:
    output = project / "fxlsp-recording.json"
    assert fxlsp("record", "-o", "fxlsp-recording.json", "--", sys.executable, "-m", "train").code == 0
    assert recorded(output) == [("Net", "train", 1)]
    (project / "test_net.py").write_text("def test_net():\n    import train\n")
    program = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_net.py"]
    assert fxlsp("record", "-o", "fxlsp-recording.json", "--", *program).code == 0
    assert recorded(output) == [("Net", "pytest", 1)]


def test_python_is_the_interpreter_that_is_named_and_programs_beside_it_come_first(
    fxlsp: Fxlsp, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = project / "tools"
    tools.mkdir()
    (tools / "python").symlink_to(sys.executable)
    (tools / "train").write_text(f"#!/bin/sh\nexec {sys.executable} train.py\n")
    (tools / "train").chmod(0o755)
    monkeypatch.setenv("PATH", os.defpath)
    for program in (["python", "train.py"], ["train"]):
        # In a virtual environment the link itself counts: what it leads to has other packages.
        named = sys.executable if program[0] == "python" else str(tools / "python")
        assert fxlsp("record", "-o", "recording.json", "--python", named, "--", *program).code == 0
        assert recorded(project / "recording.json") == [("Net", "train.py", 1)]
        (project / "recording.json").unlink()


def test_what_was_seen_before_a_failure_is_kept_and_the_exit_code_is_the_commands(fxlsp: Fxlsp, project: Path) -> None:
    (project / "train.py").write_text(TRAIN + "import sys\nsys.exit(7)\n")
    assert fxlsp("record", "--", sys.executable, "train.py").code == 7
    assert recorded() == [("Net", "train.py", 1)]


def test_a_program_that_is_killed_has_saved_what_it_did_first(fxlsp: Fxlsp, project: Path) -> None:
    (project / "train.py").write_text(
        TRAIN + "import os, signal, time\nnet, x = Net(3), torch.randn(4, 3)\nend = time.monotonic() + 2\n"
        "while time.monotonic() < end:\n    net(x)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert fxlsp("record", "--", sys.executable, "train.py").code == 128 + signal.SIGKILL
    assert recorded() == [("Net", "train.py", 1)]


def test_enough_ends_a_command_that_brings_nothing_new(fxlsp: Fxlsp, project: Path) -> None:
    (project / "train.py").write_text(TRAIN + "net, x = Net(3), torch.randn(4, 3)\nwhile True:\n    net(x)\n")
    assert fxlsp("record", "--enough", "0.5", "--", sys.executable, "train.py").code == 0
    assert recorded() == [("Net", "train.py", 1)]


def test_a_command_that_makes_no_model_is_reported(fxlsp: Fxlsp) -> None:
    ran = fxlsp("record", "--", sys.executable, "-c", "pass")
    assert ran.code == 0
    assert ran.err.startswith("fxlsp: nothing was recorded: the command made no module of a class in ")


USAGE = {
    "no command": ([], "give a command to record"),
    "a program that is not there": (["--", "no-such-program"], "cannot run no-such-program: No such file or directory"),
    "another file as the recording": (
        ["-o", "net.py", "--", "true"],
        "net.py is damaged: it is not JSON; name another",
    ),
}


@pytest.mark.parametrize("name", USAGE)
def test_wrong_usage_is_one_line(name: str, fxlsp: Fxlsp, project: Path) -> None:
    arguments, message = USAGE[name]
    ran = fxlsp("record", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert (project / "net.py").read_text() == NET


def test_a_damaged_recording_in_the_cache_is_put_aside(fxlsp: Fxlsp) -> None:
    fxlsp("record", "--", sys.executable, "train.py")
    (path,) = (Path(os.environ["XDG_CACHE_HOME"]) / "fxlsp").glob("recording-*.json")
    path.write_text("{")
    assert fxlsp("record", "--", sys.executable, "train.py").code == 0
    assert recorded(path) == [("Net", "train.py", 1)]
    assert path.with_name(f"{path.name}.damaged").read_text() == "{"


def python(project: Path, *arguments: str, **variables: str) -> Any:
    """Run Python as ``fxlsp record`` does, in the project; return what it prints as JSON."""
    options = {"file": str(project / "recording.json"), "folder": str(project), "source": ""}
    environment = {**os.environ, "FXLSP_RECORD": json.dumps(options), "PYTHONPATH": startup_folder(), **variables}
    ran = subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ran.stderr == ""
    return json.loads(ran.stdout)


def test_the_environments_own_sitecustomize_runs_and_nothing_of_fxlsp_can_be_imported(project: Path) -> None:
    (project / "own").mkdir()
    (project / "own" / "sitecustomize.py").write_text("import builtins\nbuiltins.was_customized = True\n")
    found = python(
        project,
        "-c",
        "import builtins, json, sys, sitecustomize\n"
        "print(json.dumps([builtins.was_customized, sitecustomize.__file__, sys.path[1:], 'torch' in sys.modules]))",
        PYTHONPATH=os.pathsep.join([startup_folder(), str(project / "own")]),
    )
    assert found[0] is True
    assert found[1] == str(project / "own" / "sitecustomize.py")
    assert startup_folder() not in found[2]
    assert found[3] is False


def test_a_recording_that_cannot_be_written_stops_no_program(project: Path) -> None:
    (project / "recording.json").mkdir()
    environment = {
        **os.environ,
        "FXLSP_RECORD": json.dumps({"file": str(project / "recording.json"), "folder": str(project)}),
        "PYTHONPATH": startup_folder(),
    }
    ran = subprocess.run(
        [sys.executable, "train.py"],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == 0
    assert ran.stderr.startswith("fxlsp: nothing was recorded: ")
    assert ran.stderr.count("\n") == 1


def test_workers_of_a_data_loader_run_unrecorded(fxlsp: Fxlsp, project: Path) -> None:
    (project / "train.py").write_text(
        TRAIN + "from torch.utils.data import DataLoader\nnet = Net(3)\n"
        "for batch in DataLoader(torch.randn(8, 3), batch_size=4, num_workers=2):\n    net(batch)\n"
    )
    assert fxlsp("record", "--", sys.executable, "train.py").code == 0
    assert recorded() == [("Net", "train.py", 1)]


def test_the_process_that_torchrun_starts_is_recorded_and_torchrun_is_not(fxlsp: Fxlsp, project: Path) -> None:
    (project / "train.py").write_text(
        TRAIN + "import torch.distributed as dist\nfrom torch.nn.parallel import DistributedDataParallel\n"
        "dist.init_process_group('gloo')\nDistributedDataParallel(Net(3))(torch.randn(8, 3))\n"
        "dist.destroy_process_group()\n"
    )
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "1"]
    assert fxlsp("record", "--", *torchrun, "train.py").code == 0
    assert recorded() == [("Net", "train.py", 2)]


def test_a_line_in_a_script_records_it(fxlsp: Fxlsp, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    (project / "train.py").write_text(f"import fxlsp\nfxlsp.record()\n{TRAIN}")
    subprocess.run([sys.executable, "train.py"], cwd=project, check=True, timeout=60)
    assert recorded() == [("Net", "train.py", 1)]


def test_the_line_imports_neither_torch_nor_the_server(project: Path) -> None:
    program = (
        "import sys, fxlsp\nfxlsp.record()\n"
        "print([each for each in ('torch', 'pygls', 'tree_sitter', 'asyncio') if each in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout == "[]\n"


def test_an_option_of_pytest_records_the_tests(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    (project / "test_net.py").write_text("def test_net():\n    import train\n")
    plugin = ["-p", "fxlsp.cli.record.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_net.py"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run([*command, *plugin, "--fxlsp-record"], cwd=project, env=environment, check=True, timeout=60)
    assert recorded() == [("Net", "pytest", 1)]


def test_ctrl_c_ends_the_command_and_what_it_did_is_kept(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    ready = project / "ready"
    (project / "train.py").write_text(
        f"{TRAIN}import pathlib, time\npathlib.Path({str(ready)!r}).touch()\ntime.sleep(600)\n"
    )
    command = [sys.executable, "-m", "fxlsp", "record", "--", sys.executable, "train.py"]
    # A shell starts what runs in the background with the signal ignored, and so what that starts.
    unignored = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", unignored, *command], cwd=project, stderr=subprocess.DEVNULL, start_new_session=True
    )
    eventually(ready.exists)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(PATIENCE) in (1, 128 + signal.SIGINT)
    assert recorded() == [("Net", "train.py", 1)]
