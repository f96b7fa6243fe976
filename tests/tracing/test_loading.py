"""A file is loaded as its project would load it, and no more of it runs than the model needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 2)

    def forward(self, x):
        return self.lin(x)
"""


TRAINING = """
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loader = 1 / 0
for x in loader:
    net.train()
    opt.zero_grad()
    net(x).sum().backward()
    net.eval()
    open(__file__ + ".ran", "w")
"""


def test_a_file_that_its_package_imports_runs_once(worker: Any, write: Callable[..., str]) -> None:
    write(
        "names = []\ndef register(cls):\n    assert not names\n    names.append(cls)\n    return cls\n",
        "pkg/registry.py",
    )
    write("from .net import *\n", "pkg/__init__.py")
    path = write("from .registry import register\n" + NET.replace("class Net", "@register\nclass Net"), "pkg/net.py")
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete


def test_a_training_loop_at_top_level_does_not_run(worker: Any, write: Callable[..., str]) -> None:
    path = write(NET + TRAINING)
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete
    report = worker.report(f"{path}:net", "net", "torch.randn(1, 4)")
    assert report.complete
    assert report.mode == "train"
    in_eval_mode = write(NET + "net = Net()\nnet.eval()\n", "other.py")
    assert worker.report(f"{in_eval_mode}:net", "net", "torch.randn(1, 4)").mode == "eval"
    assert not Path(path + ".ran").exists()


def test_what_changes_a_needed_name_runs(worker: Any, write: Callable[..., str]) -> None:
    path = write(
        "cfg = {}\ncfg['width'] = 3\ncfg.update(width=4)\n"
        + NET.replace("nn.Linear(4, 2)", "nn.Linear(cfg['width'], 2)")
        + "\nNet.extra = lambda self, x: x + 1\n"
    )
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete


def test_an_unsaved_text_of_another_file_counts(worker: Any, write: Callable[..., str]) -> None:
    sizes = write("WIDTH = 3\n", "sizes.py")
    path = write("from sizes import WIDTH\n" + NET.replace("nn.Linear(4, 2)", "nn.Linear(WIDTH, 2)"))
    report = worker.report(f"{path}:Net", "Net()", "torch.randn(1, 5)", overlays={sizes: "WIDTH = 5\n"})
    assert report.complete
    message = worker.answer(f"{path}:Net", "Net()", "torch.randn(1, 3)")
    assert message["report"]["complete"]
    assert {read["path"] for read in message["reads"]} == {path, sizes}


def test_a_script_may_have_the_name_of_a_standard_module(worker: Any, write: Callable[..., str]) -> None:
    path = write(
        "import random\n" + NET.replace("nn.Linear(4, 2)", "nn.Linear(4, len(random.choice(['ab'])))"), "types.py"
    )
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete


@pytest.mark.parametrize(
    "statements",
    [
        "import torch.fx\ntorch.fx.wrap('len')",
        "import torch.fx as fx\nfx.wrap('len')",
        "from torch.fx import wrap as w\nw('len')",
        "from torch.fx import wrap\nlen = lambda x: x.shape[0]\nwrap('len')",
    ],
)
def test_functions_wrapped_by_name_become_nodes(statements: str, worker: Any, write: Callable[..., str]) -> None:
    path = write(statements + NET.replace("return self.lin(x)", "return self.lin(x) * len(x)"))
    report = worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)")
    assert [node.op for node in report.nodes][2] == "call_function"
    assert report.complete


def test_defaults_of_torch_count_by_whatever_name_they_are_set(worker: Any, write: Callable[..., str]) -> None:
    path = write("from torch import set_default_dtype as use\nimport torch\nuse(torch.float64)\n" + NET)
    report = worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)")
    assert report.nodes[-1].output == {"shape": [1, 2], "dtype": "float64"}


def test_tensors_on_an_accelerator_are_made_on_the_cpu(worker: Any, write: Callable[..., str]) -> None:
    path = write(
        """
        import torch
        from torch import nn

        device = torch.device("cuda:0")

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 2, device="cuda")
                self.register_buffer("ones", torch.ones(2, device=device))
                self.register_buffer("data", torch.tensor([1.0, 2.0], device="cuda").cuda())
                self.large = nn.Parameter(torch.zeros(400, 400).cuda().half())
                self.to(device)

            def forward(self, x):
                x = self.lin(x.cuda().to(device)) + torch.ones(2, device="cuda") + torch.tensor([1, 2]).to(device)
                return x + self.ones + self.data + self.large.sum()
        """
    )
    report = worker.report(f"{path}:Net", "Net().cuda()", "torch.randn(1, 4, device='cuda')")
    assert report.verdict.error is None
    assert report.problems == ()
    assert report.complete


def test_a_model_in_the_file_of_a_package_is_loaded_as_the_package(worker: Any, write: Callable[..., str]) -> None:
    write("from . import WIDTH\nwidth = WIDTH\n", "pack/sizes.py")
    path = write(
        "WIDTH = 4\nfrom .sizes import width\n" + NET.replace("nn.Linear(4", "nn.Linear(width"), "pack/__init__.py"
    )
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete


def test_calls_that_change_an_imported_object_run(worker: Any, write: Callable[..., str]) -> None:
    write(
        "class Config:\n    width = 4\n    def merge(self, width):\n        self.width = width\ncfg = Config()\n",
        "conf.py",
    )
    path = write(
        "from conf import cfg\ncfg.width = 5\ncfg.merge(6)\n"
        + NET.replace("nn.Linear(4, 2)", "nn.Linear(4, cfg.width)")
    )
    report = worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)")
    assert report.nodes[-1].output == {"shape": [1, 6], "dtype": "float32"}


def test_what_is_read_from_the_module_itself_is_there(worker: Any, write: Callable[..., str]) -> None:
    path = write(
        "import sys\nhere = sys.modules[__name__]\nthere = here\nsizes = here\nWIDTH = 4\n"
        + NET.replace("__init__(self)", "__init__(self, width=there.sizes.WIDTH)").replace(
            "nn.Linear(4,", "nn.Linear(width,"
        )
    )
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete


def test_what_torchscript_compiles_may_initialise(worker: Any, write: Callable[..., str]) -> None:
    compiled = "@torch.jit.script\ndef made(width: int):\n    return torch.nn.init.ones_(torch.empty(width))\n"
    path = write("import torch\n" + compiled + NET.replace("return self.lin(x)", "return self.lin(x) + made(2)"))
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete
