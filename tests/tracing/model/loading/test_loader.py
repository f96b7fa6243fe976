"""A file is loaded as in its project, and only what the model needs runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fxlsp.report.problems import Failure

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


@pytest.mark.parametrize(
    "statement", ["loader = [1 / 0 for _ in range(3)]", "loader, _ = 1 / 0", "[x for Net in 1 / 0]"]
)
def test_what_a_model_does_not_need_may_fail(statement: str, worker: Any, write: Callable[..., str]) -> None:
    path = write(f"{NET}\n{statement}\n")
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete


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


def test_a_file_of_a_package_imports_its_siblings_as_a_script_does(worker: Any, write: Callable[..., str]) -> None:
    write("", "core/__init__.py")
    write("WIDTH = 4\n", "core/sizes.py")
    write("from sizes import WIDTH\n", "core/parts/widths.py")
    text = "from sizes import WIDTH\nfrom parts.widths import WIDTH as same\n" + NET.replace("(4", "(WIDTH and same")
    assert worker.report(write(text, "core/net.py") + ":Net", "Net()", "torch.randn(1, 4)").complete
    write("", "core/deep/__init__.py")
    assert worker.report(write(text, "core/deep/net.py") + ":Net", "Net()", "torch.randn(1, 4)").complete


def test_a_folder_without_init_in_a_package_is_loaded_again_with_it(
    worker: Any, write: Callable[..., str], tmp_path: Path
) -> None:
    write("", "top/core/__init__.py")
    write("WIDTH = 4\n", "top/core/sizes/widths.py")
    text = "from top.core.sizes.widths import WIDTH\n" + NET.replace("(self)", "(self, width)").replace("(4", "(WIDTH")
    path = write(text, "top/core/net.py")
    assert worker.report(f"{path}:Net", roots=[str(tmp_path)]).complete


def test_what_a_folder_without_init_holds_is_loaded_again_too(
    worker: Any, write: Callable[..., str], tmp_path: Path
) -> None:
    registry = "NETS = {}\n\ndef register(cls):\n    assert cls.__name__ not in NETS\n    NETS[cls.__name__] = cls\n"
    write(f"{registry}    return cls\n", "top/core/registry.py")
    text = NET.replace("class Net", "from top.core import registry\n\n@registry.register\nclass Net")
    path = write(text.replace("(self)", "(self, width)").replace("(4", "(width"), "top/core/net.py")
    assert worker.report(f"{path}:Net", roots=[str(tmp_path)]).complete


def test_a_name_of_a_package_that_the_file_goes_on_without_is_missed_by_the_package(
    worker: Any, write: Callable[..., str]
) -> None:
    head = "try:\n    from missing_package.parts import width\nexcept ImportError:\n    pass\n"
    text = head + NET.replace("nn.Linear(4, 2)", "nn.Linear(width, 2)")
    failure = Failure.from_json(worker.answer(write(text) + ":Net", "Net()", "torch.randn(1, 4)")["failure"])
    assert "No module named 'missing_package'" in failure.message
    assert failure.location is not None
    assert failure.location.line == 2


@pytest.mark.parametrize(
    ("made", "used"),
    [
        pytest.param("@missing\ndef helper(x):\n    return x", "helper(x)", id="a function"),
        pytest.param("class Helper(missing):\n    pass", "Helper(x)", id="a class"),
    ],
)
@pytest.mark.parametrize("recipe", [("Net()", "torch.randn(1, 4)"), ()], ids=["stated", "searched"])
def test_what_a_missing_package_was_to_make_is_missed_by_the_package_in_forward(
    made: str, used: str, recipe: tuple[str, ...], worker: Any, write: Callable[..., str]
) -> None:
    text = f"from missing_package import missing\n\n{made}\n" + NET.replace("self.lin(x)", f"self.lin({used})")
    problems = worker.report(write(text) + ":Net", *recipe).problems
    assert {problem.code for problem in problems} == {"FX901"}
    assert "No module named 'missing_package'" in problems[0].message


@pytest.mark.parametrize("made", ["size = missing(2)", "size, other = missing(2)", "if missing(2):\n    size = 3"])
def test_a_name_that_the_file_binds_elsewhere_is_no_mistake_of_forward(
    made: str, worker: Any, write: Callable[..., str]
) -> None:
    text = f"from missing_package import missing\n\n{made}\n" + NET.replace("self.lin(x)", "self.lin(x) * size")
    problems = worker.report(write(text.replace("(self)", "(self, width)")) + ":Net").problems
    assert [problem.severity for problem in problems] == ["info"]


def test_a_sibling_is_not_in_the_place_of_a_module_of_python(worker: Any, write: Callable[..., str]) -> None:
    write("", "core/__init__.py")
    write("RGB = None\n", "core/colorsys.py")
    text = "import colorsys\nWIDTH = 4 if hasattr(colorsys, 'rgb_to_hsv') else 5\n"
    path = write(text + NET.replace("(4", "(WIDTH"), "core/net.py")
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


def test_a_package_that_is_missing_costs_only_what_uses_it(worker: Any, write: Callable[..., str]) -> None:
    path = write(
        "import missing_package\nfrom missing_package.parts import Base, helper as h\n"
        + NET
        + "class Derived(Base, nn.Module):\n    def forward(self, x):\n        return x\n"
        + "class Made(Net):\n    def __init__(self):\n        super().__init__()\n        h(3)\n"
        + "class Run(Net):\n    def forward(self, x):\n        return missing_package.run(x)\n"
        + "@missing_package.decorated\ndef train(): ...\n"
        + "class Told(Net):\n    def forward(self, x: missing_package.Array[3]):\n        return x\n"
    )
    for name in ("Net", "Told"):
        assert worker.report(f"{path}:{name}", f"{name}()", "torch.randn(1, 4)").complete
    for name in ("Derived", "Made"):
        failure = worker.answer(f"{path}:{name}", f"{name}()", "torch.randn(1, 4)")["failure"]["failure"]
        assert failure["code"] == "FX901"
        assert "No module named 'missing_package'" in failure["message"]
    run = worker.report(f"{path}:Run", "Run()", "torch.randn(1, 4)")
    assert "No module named 'missing_package'" in run.verdict.error.message
    assert run.verdict.error.location.line == len(Path(path).read_text().splitlines()) - 5


@pytest.mark.parametrize("made", ["width = 4 + len(HEADERS)", "width = 4 + len(wsgiref.headers.Headers([]))"])
def test_a_module_that_another_statement_of_the_program_would_import_is_there(
    made: str, worker: Any, write: Callable[..., str]
) -> None:
    head = "import wsgiref\nHEADERS = wsgiref.headers.Headers([])\n"
    text = head + NET.replace("self.lin = nn.Linear(4, 2)", f"{made}\n        self.lin = nn.Linear(width, 2)")
    assert worker.report(write(text) + ":Net", "Net()", "torch.randn(1, 4)").nodes[-1].output["shape"] == [1, 2]


def test_why_a_name_is_not_there_to_be_imported_is_reported(
    worker: Any, write: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "limits.py").write_text("import math\n\ndef width(limit=math.no_such_limit):\n    return 4\n")
    text = "from limits import width\n" + NET.replace("Linear(4, 2)", "Linear(width(), 2)")
    failure = Failure.from_json(worker.answer(write(text) + ":Net", "Net()", "torch.randn(1, 4)")["failure"])
    assert "module 'math' has no attribute 'no_such_limit'" in failure.message


def test_of_other_files_only_what_is_imported_runs(worker: Any, write: Callable[..., str]) -> None:
    write(
        "import missing_package\nWIDTH = 4\nTABLE = missing_package.read()\nSIZES = {'out': 2}\n"
        "def out():\n    return SIZES['out']\nSIZES.update(out=3)\ndef table():\n    return TABLE\n"
        "for step in range(3):\n    open(__file__ + '.ran', 'w')\n    print(TABLE, 1 / 0)\n",
        "utils.py",
    )
    path = write(
        "from utils import WIDTH, out, table\nimport utils\n"
        + NET.replace("nn.Linear(4, 2)", "nn.Linear(WIDTH, out() + utils.SIZES['out'])")
        + "class Bad(Net):\n    def __init__(self):\n        super().__init__()\n        table()\n"
    )
    report = worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)")
    assert report.nodes[-1].output == {"shape": [1, 6], "dtype": "float32"}
    failure = worker.answer(f"{path}:Bad", "Bad()", "torch.randn(1, 4)")["failure"]["failure"]
    assert "No module named 'missing_package'" in failure["message"]


def test_a_star_import_brings_what_does_not_fail(worker: Any, write: Callable[..., str]) -> None:
    write("from .parts import *\nfrom .rest import *\n", "pack/__init__.py")
    write("import missing_package\n__all__ = ['WIDTH', 'Lost']\nWIDTH = 4\nLost = missing_package.x\n", "pack/parts.py")
    write("OUT = 2\nfor OTHER in (1, 2):\n    open(__file__ + '.ran', 'w')\n", "pack/rest.py")
    path = write("from pack import *\n" + NET.replace("nn.Linear(4, 2)", "nn.Linear(WIDTH, OUT)"))
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete


def test_a_name_that_a_failed_star_import_may_have_bound_is_missing_for_its_reason(
    worker: Any, write: Callable[..., str]
) -> None:
    write("from .data import *\n", "pack/__init__.py")
    write("import missing_package\ndef width():\n    return 4\n", "pack/data.py")
    lost = write("import pack\nWIDTH = pack.width()\n" + NET.replace("nn.Linear(4,", "nn.Linear(WIDTH,"))
    failure = worker.answer(f"{lost}:Net", "Net()", "torch.randn(1, 4)")["failure"]["failure"]
    assert "No module named 'missing_package'" in failure["message"]
    asked = NET.replace("nn.Linear(4,", "nn.Linear(5 if hasattr(pack, 'width') else 4,")
    path = write(f"import pack\n{asked}", "other.py")
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete


def test_a_name_that_only_running_makes_is_there(worker: Any, write: Callable[..., str]) -> None:
    path = write("exec('WIDTH = 4')\n" + NET.replace("nn.Linear(4,", "nn.Linear(WIDTH,"))
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete
    looked_up = write("WIDTH = 4\n" + NET.replace("nn.Linear(4,", "nn.Linear(globals()['WIDTH'],"), "other.py")
    assert worker.report(f"{looked_up}:Net", "Net()", "torch.randn(1, 4)").complete


def test_a_statement_that_fails_half_way_leaves_nothing_half_made(worker: Any, write: Callable[..., str]) -> None:
    path = write("cfg = {'width': 4}\ncfg.update(open('missing.yaml'))\n" + NET.replace("(4, 2)", "(cfg['width'], 2)"))
    failure = worker.answer(f"{path}:Net", "Net()", "torch.randn(1, 4)")["failure"]["failure"]
    assert "missing.yaml" in failure["message"]
    assert failure["location"]["line"] == 2


def test_a_class_of_the_main_block_is_loaded_without_the_rest_of_it(worker: Any, write: Callable[..., str]) -> None:
    path = write(
        "from torch import nn\nif __name__ == '__main__':\n    data = 1 / 0\n    WIDTH = 4\n"
        "    class Net(nn.Module):\n        def forward(self, x):\n            return x + WIDTH\n"
    )
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete


SIZED = """
import torch
from torch import nn
{}

class Net(nn.Linear):
    def __init__(self):
        super().__init__(WIDTH, 2)
"""


@pytest.mark.parametrize(
    ("files", "name", "text"),
    [
        ({"net/sizes.py": "WIDTH = 4\n"}, "net/model.py", "from .sizes import WIDTH"),
        ({"a/sizes.py": "WIDTH = 4\n"}, "a/b/model.py", "from ..sizes import WIDTH"),
        ({"src/pack/__init__.py": "WIDTH = 4\n"}, "tools/model.py", "from pack import WIDTH"),
        ({"space/inner/sizes.py": "WIDTH = 4\n"}, "model.py", "from space.inner.sizes import WIDTH"),
        ({"utils.py": "WIDTH = 9\n", "one/utils.py": "WIDTH = 4\n"}, "one/model.py", "from utils import WIDTH"),
        ({"sizes.py": "WIDTH = 4\n"}, "a/b/model.py", "import sys\nsys.path.append('../..')\nfrom sizes import WIDTH"),
        ({"v1.0/sizes.py": "WIDTH = 4\n", "v1.0/__init__.py": ""}, "v1.0/model-2.py", "from sizes import WIDTH"),
        ({"sizes.py": "WIDTH = 4\n", "__init__.py": ""}, "model.py", "from .sizes import WIDTH"),
    ],
    ids=["relative", "two-dots", "src", "namespace", "same-name", "sys-path", "no-name", "root-is-package"],
)  # fmt: skip
def test_a_file_finds_its_neighbours(
    files: dict[str, str], name: str, text: str, worker: Any, write: Callable[..., str], tmp_path: Path
) -> None:
    for other, content in files.items():
        write(content, other)
    path = write(SIZED.format(text), name)
    # The folder of the workspace helps nobody who has to find his way from his own.
    roots = () if "sys.path" in text else (str(tmp_path),)
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)", roots=roots).complete


def test_an_unsaved_text_counts_in_a_package(worker: Any, write: Callable[..., str]) -> None:
    write("", "pack/__init__.py")
    sizes = write("WIDTH = 3\n", "pack/sizes.py")
    path = write(SIZED.format("from .sizes import WIDTH"), "pack/model.py")
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)", overlays={sizes: "WIDTH = 4\n"}).complete


@pytest.mark.parametrize(
    "wrapped",
    [
        "nn.DataParallel(Net())",
        "nn.parallel.DistributedDataParallel(Net().cuda(), device_ids=[0])",
        "torch.compile(Net())",
    ],
)
def test_a_wrapped_instance_shows_what_it_wraps(wrapped: str, worker: Any, write: Callable[..., str]) -> None:
    path = write(NET + f"torch.distributed.init_process_group('nccl')\nnet = {wrapped}\n")
    report = worker.report(f"{path}:net", "net", "torch.randn(1, 4)")
    assert not report.verdict.traceable
    assert [node.module_path for node in report.nodes] == ["", "lin", None]
    assert report.complete


def test_what_a_recipe_names_has_run(worker: Any, write: Callable[..., str], tmp_path: Path) -> None:
    write("WIDTH = 4\n" + NET, "of_a_recipe.py")
    assert worker.report("of_a_recipe:Net", "Net()", "torch.ones(1, WIDTH)", roots=(str(tmp_path),)).complete


def test_a_name_of_a_branch_not_taken_is_assumed_and_the_recipe_is_a_guess(
    worker: Any, write: Callable[..., str]
) -> None:
    chooses = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--dataset", required=True)
args = parser.parse_args()
if args.dataset == "folder":
    data = 1 / 0
    channels = data.channels
elif args.dataset == "lsun":
    data = 1 / 0
    channels, width = 3, 8
elif args.dataset == "mnist":
    channels, width = 1, 2
"""
    net = NET.replace("nn.Linear(4, 2)", "nn.Linear(channels, width)")
    report = worker.report(f"{write(chooses + net)}:Net", "Net()", "torch.randn(1, 3)")
    assert report.nodes[-1].output == {"shape": [1, 8], "dtype": "float32"}
    assert report.recipe.source == "search"
    taken = chooses.replace("required=True", 'default="mnist"')
    report = worker.report(f"{write(taken + net, 'other.py')}:Net", "Net()", "torch.randn(1, 1)")
    assert report.nodes[-1].output == {"shape": [1, 2], "dtype": "float32"}
    assert report.recipe.source != "search"
    wrong = net + "\nif torch.__version__ == '0':\n    channels, width = 3, 8\n"
    message = worker.answer(f"{write(wrong, 'wrong.py')}:Net", "Net()", "torch.randn(1, 3)")
    assert "'channels' is not defined" in Failure.from_json(message["failure"]).message


ASKED = {
    "a function for a name that a tool sets": (
        "try:\n    profile\nexcept NameError:\n    def profile(f):\n        return f\n",
        "profile",
    ),
    "a name of another version of Python": (
        "try:\n    unicode\nexcept NameError:\n    unicode = lambda f: f\n",
        "unicode",
    ),
    "an attribute": (
        "import torch\ntry:\n    torch.no_such_part\nexcept AttributeError:\n    wrap = lambda f: f\n",
        "wrap",
    ),
    "a name of the file": (
        "FLAG = 1\ntry:\n    FLAG\nexcept NameError:\n    wrap = None\nelse:\n    wrap = lambda f: f\n",
        "wrap",
    ),
    "a builtin": (
        "try:\n    print\nexcept NameError:\n    wrap = None\nelse:\n    wrap = lambda f: f\n",
        "wrap",
    ),
}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize(
    "imported",
    ["from pkg.utils.prof import {0} as wrapped", "from .utils.prof import *\nwrapped = {0}", "{1}wrapped = {0}"],
)
def test_a_name_that_a_try_asks_for_decides_what_is_bound(
    imported: str, name: str, worker: Any, write: Callable[..., str]
) -> None:
    text, wrapper = ASKED[name]
    write("", "pkg/__init__.py")
    write("", "pkg/utils/__init__.py")
    write(text, "pkg/utils/prof.py")
    net = NET.replace("    def forward", "    @wrapped\n    def forward")
    path = write(imported.format(wrapper, text) + "\n" + net, "pkg/net.py")
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete
