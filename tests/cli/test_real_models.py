"""The command on real models, under the interpreter that runs the tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Fxlsp
from tests.support import warm

PROJECT = Path(__file__).parents[2]
MODULE_PATHS = PROJECT / "tests" / "tracing" / "model" / "capture" / "resnet18_module_paths.txt"


def fxlsp(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [*warm.fxlsp(), *arguments, "--python", sys.executable]
    return subprocess.run(command, cwd=PROJECT, input=stdin, capture_output=True, text=True, check=False)


@pytest.mark.torchvision
def test_paths_of_resnet18_are_those_that_pytorchs_example_prints() -> None:
    ran = fxlsp("trace", "torchvision.models:resnet18", "--format", "paths")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Node x is from module \n" in ran.stdout
    assert [line.rstrip() for line in ran.stdout.splitlines()] == [
        line.rstrip() for line in MODULE_PATHS.read_text().splitlines()
    ]


@pytest.mark.torchvision
def test_json_has_the_path_place_and_shape_of_a_node_in_torchvisions_file() -> None:
    report = json.loads(fxlsp("trace", "torchvision.models:resnet18", "--format", "json").stdout)
    (node,) = [node for node in report["nodes"] if node["name"] == "layer2_0_downsample_0"]
    assert node["module_path"] == "layer2.0.downsample.0"
    assert node["output"]["shape"] == [1, 128, 28, 28]
    place = node["location"]
    line = Path(place["file"]).read_text().splitlines()[place["line"] - 1]
    assert place["file"].endswith("torchvision/models/resnet.py")
    if sys.version_info >= (3, 11):
        assert line[place["column"] - 1 : place["end_column"] - 1] == "self.downsample(x)"


def test_the_examples_are_traced_but_for_the_one_that_shows_a_problem() -> None:
    ran = fxlsp("check", "examples", "--format", "json")
    assert (ran.returncode, ran.stderr) == (1, "")
    checked = json.loads(ran.stdout)
    assert {model["target"].removeprefix("examples/"): model["status"] for model in checked["models"]} == {
        "early_exit.py:EarlyExit": "recovered",
        "resnet.py:Block": "covered",
        "resnet.py:ResNet": "traced",
        "segmentation.py:Encoder": "covered",
        "segmentation.py:Decoder": "covered",
        "segmentation.py:UNet": "traced",
    }
    (problem,) = checked["problems"]
    assert problem["code"] == "FX101"
    assert problem["location"]["file"] == str(PROJECT / "examples" / "early_exit.py")


BAD = {
    "does_not_parse": "class Net(:\n",
    "does_not_import": (
        "import nothing_of_this_name\nfrom torch import nn\n\n\nclass Net(nothing_of_this_name.Net): ...\n"
    ),
    "is_not_there": "from torch import nn\n\n\nclass Other(nn.Module):\n    def forward(self, x): ...\n",
    "is_not_built": (
        "from torch import nn\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        raise ValueError('no such width')\n\n"
        "    def forward(self, x):\n        return x\n"
    ),
    "exits": (
        "import os\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        os._exit(3)\n"
    ),
}


def test_bad_input_is_one_message_with_its_place_and_exit_code_2(tmp_path: Path) -> None:
    for name, text in BAD.items():
        (tmp_path / f"{name}.py").write_text(text)
    lines = [json.dumps({"target": f"{tmp_path}/{name}.py:Net"}) for name in BAD]
    answers = [json.loads(line) for line in fxlsp("trace", "--batch", stdin="\n".join(lines)).stdout.splitlines()]
    found = {name: _brief(answer) for name, answer in zip(BAD, answers, strict=True)}
    assert found == {
        "does_not_parse": ("FX901", 1),
        "does_not_import": ("FX901", 1),
        "is_not_there": ("FX902", None),
        "is_not_built": ("FX903", 7),
        "exits": ("FX905", 7),
    }
    for name in ("does_not_parse", "is_not_built"):
        ran = fxlsp("trace", f"{tmp_path}/{name}.py:Net")
        assert (ran.returncode, ran.stdout) == (2, "")
        assert ran.stderr.startswith(f"fxlsp: {tmp_path}/{name}.py:")


def _brief(answer: Any) -> tuple[str, int | None]:
    failure = answer["failure"]
    return failure["code"], failure["location"]["line"] if failure["location"] else None


def test_traces_go_on_while_the_worker_imports_what_the_first_one_needed(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "import hypothesis\nimport torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
        "    settings = hypothesis.settings\n\n    def forward(self, x):\n        return x + 1\n\n\n"
        "Net()(torch.randn(1))\n"
    )
    line = json.dumps({"target": f"{tmp_path}/model.py:Net"})
    with subprocess.Popen(
        [*warm.fxlsp(), "trace", "--batch", "--python", sys.executable],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as batch:
        assert batch.stdin is not None
        assert batch.stdout is not None
        for _ in range(8):
            batch.stdin.write(f"{line}\n")
            batch.stdin.flush()
            answer = json.loads(batch.stdout.readline())
            assert "failure" not in answer, answer
        batch.stdin.close()


PART = """\
from torch import nn

class Part(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 2)

    def forward(self, x):
        return self.linear(x)
"""

WHOLE = """\
from torch import nn
from .a_part import Part

class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part(3)

    def forward(self, x):
        return self.part(x)
"""


def test_a_class_that_a_model_of_another_file_covers_needs_nothing(tmp_path: Path) -> None:
    for name, text in {"__init__": "", "a_part": PART, "whole": WHOLE}.items():
        (tmp_path / f"{name}.py").write_text(text)
    found = json.loads(fxlsp("check", str(tmp_path), "--format", "json").stdout)
    assert [model["status"] for model in found["models"]] == ["covered", "traced"]
    assert found["problems"] == []


def test_what_another_file_reads_and_parses_makes_the_models(tmp_path: Path) -> None:
    net = """
class {name}(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(8, width)

    def forward(self, x):
        return self.linear(x)
"""
    (tmp_path / "models.py").write_text("from torch import nn\n" + net.format(name="Read") + net.format(name="Parsed"))
    (tmp_path / "config.json").write_text('{"net": {"width": 24}}')
    (tmp_path / "options.py").write_text(
        "import argparse\n\ndef get_args():\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--width', type=int, default=56)\n    return parser.parse_args()\n"
    )
    (tmp_path / "train.py").write_text(
        "import json\nimport torch\nfrom models import Parsed, Read\nfrom options import get_args\n\n"
        "def main():\n    with open('config.json') as file:\n        config = json.load(file)\n"
        "    Read(**config['net'])(torch.randn(4, 8))\n"
        "    args = get_args()\n    Parsed(args.width)(torch.randn(5, 8))\n"
    )
    models = json.loads(fxlsp("check", str(tmp_path), "--format", "json").stdout)["models"]
    train = str((tmp_path / "train.py").resolve())
    assert [(model["status"], model["recipe"]) for model in models] == [
        (
            "traced",
            {
                "init": "Read(**json.load(open('config.json'))['net'])",
                "inputs": "torch.randn(4, 8)",
                "source": "call-site",
                "file": train,
            },
        ),
        (
            "traced",
            {"init": "Parsed(get_args().width)", "inputs": "torch.randn(5, 8)", "source": "call-site", "file": train},
        ),
    ]


UNSHAPED = """
from torch import nn


class Part(nn.Module):
    def forward(self, x):
        return x.absent().relu()


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()
        self.fc = nn.Linear(3, 4)

    def forward(self, record):
        return self.fc(self.part(record.absent()))


class Fine(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        return self.fc(x)
"""


def test_classes_that_are_followed_without_a_shape_have_a_status_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(UNSHAPED, encoding="utf-8")
    models = json.loads(fxlsp("check", str(tmp_path), "--format", "json").stdout)["models"]
    statuses = {model["target"].rpartition(":")[2]: model["status"] for model in models}
    assert statuses == {"Part": "unshaped", "Whole": "unshaped", "Fine": "traced"}


TOO_NARROW = """
import torch
from torch import nn

class Small(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear({number}, 8)

    def forward(self, x):
        return self.fc(x)
"""
FIXES = {
    "a number": ("3", "Small(0)(torch.randn(2, 4))", "Make self.fc take 4 features"),
    "a calculation": ("3 * 7", "Small(0)(torch.randn(2, 4))", "Make self.fc take 4 features"),
    "an argument": ("width", "Small(3)(torch.randn(2, 4))", None),
    "a number that is right": ("4", "Small(0)(torch.randn(2, 4))", None),
}


@pytest.mark.parametrize("what", FIXES)
def test_check_names_the_number_that_fits_where_the_text_has_one(what: str, tmp_path: Path) -> None:
    number, recipe, fix = FIXES[what]
    text = TOO_NARROW.format(number=number).replace("\nclass", f"\n# fxlsp: {recipe}\nclass")
    path = tmp_path / "small.py"
    path.write_text(text)
    lines = fxlsp("check", str(path)).stdout.splitlines()
    line, column = next(
        (n, each.index("nn.Linear") + 1) for n, each in enumerate(text.splitlines(), 1) if "nn.L" in each
    )
    expected = [] if fix is None else [f"  = fix: {fix}: {path}:{line}:{column}"]
    assert [each for each in lines if each.startswith("  = fix:")] == expected


def test_check_names_no_number_that_breaks_another_model(tmp_path: Path) -> None:
    text = TOO_NARROW.format(number="3")
    made = "class Other(Small):\n    def __init__(self):\n        super().__init__(0)\n"
    other = f"\n# fxlsp: Other()(torch.randn(2, 3))\n{made}"
    path = tmp_path / "small.py"
    path.write_text(text.replace("\nclass", "\n# fxlsp: Small(0)(torch.randn(2, 4))\nclass") + other)
    out = fxlsp("check", str(path)).stdout
    assert "error[FX401]" in out
    assert "= fix:" not in out


NOT_FED = """\
import torch
from torch import nn


class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(7, 3)

    def forward(self, x):
        assert isinstance(x, torch.Tensor) and x.shape == (5, 7) and x.sum() == 12345
        return self.fc(x)


def main(loader):
    for images in loader:
        Odd()(images)
"""


def test_a_model_without_inputs_is_not_checked_and_its_call_is_named(fxlsp: Fxlsp, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NOT_FED)
    ran = fxlsp("check", "net.py", "--python", sys.executable)
    assert "Calls that feed no model, so its inputs were guessed:" in ran.out.splitlines()
    assert "  net.py:17:9: net.py:Odd: `images` is known only when the code runs" in ran.out.splitlines()


@pytest.mark.parametrize("change", ["x[:, 2:] = 0", "x += 1", "x.clamp_(min=0)", "x[0] = loader"])
def test_a_call_site_whose_input_is_changed_in_place_finds_the_failure(
    fxlsp: Fxlsp, tmp_path: Path, change: str
) -> None:
    call = f"def main(loader):\n    x = torch.rand(5, 6)\n    {change}\n    Odd()(x)\n"
    text = NOT_FED.partition("def main")[0].replace(" and x.shape == (5, 7) and x.sum() == 12345", "") + call
    (tmp_path / "net.py").write_text(text)
    ran = fxlsp("check", "net.py", "--python", sys.executable, "--format", "json")
    assert [(each["code"], each["severity"]) for each in ran.json["problems"] if each["code"] == "FX401"] == [
        ("FX401", "error")
    ]


def test_a_part_is_what_its_method_made_of_it_before_the_call(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text("""
import torch
from torch import nn

class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 8)
        self.kept = []

    def keep(self, kept):
        self.kept = kept

    def forward(self, x):
        return [x, self.layer(x)][self.kept[0]]

class Net(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x))

def test_net():
    body = Body()
    body.keep([1])
    assert Net(body)(torch.randn(3, 4)).shape == (3, 2)
""")
    found = json.loads(fxlsp("check", str(tmp_path), "--format", "json").stdout)
    assert [model["status"] for model in found["models"]] == ["covered", "traced"]
    assert found["problems"] == []
