"""Parts of models that only some of the ways to make them use."""

from __future__ import annotations

from pathlib import Path

from fxlsp.cli.check.alternative_recipes import alternative_recipes
from fxlsp.cli.check.candidates import FoundFile, find_models
from fxlsp.cli.check.results import CheckResults
from fxlsp.cli.check.trace_order import trace_generations
from fxlsp.cli.tracing.workspace_files import WorkspaceFiles
from fxlsp.engine.settings.settings import Settings
from tests.cli.conftest import Fxlsp

NETS = """\
import torch
from torch import nn


class Wide(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        return x


class Narrow(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        return x


class Net(nn.Module):
    def __init__(self, block, depth):
        super().__init__()
        self.blocks = nn.Sequential(*(block(8) for _ in range(depth)))

    def forward(self, x):
        return self.blocks(x)


def small():
    return Net(Narrow, 1)


def middle():
    return Net(Narrow, 2)


def large():
    return Net(Wide, 3)


def test():
    small()(torch.randn(1, 8))
"""


def find(tmp_path: Path) -> list[FoundFile]:
    (tmp_path / "nets.py").write_text(NETS)
    files = WorkspaceFiles([str(tmp_path)])
    found = find_models(str((tmp_path / "nets.py").resolve()), Settings(), files)
    assert isinstance(found, FoundFile)
    return [found]


def test_what_is_handed_a_class_comes_before_it(tmp_path: Path) -> None:
    names = [[model.candidate.name for _, model in each] for each in trace_generations(find(tmp_path))]
    assert names == [["Net"], ["Wide", "Narrow"]]


def test_the_way_that_names_a_class_is_tried_first_for_it(tmp_path: Path) -> None:
    files = find(tmp_path)
    members = [member for generation in trace_generations(files) for member in generation]
    (wide,) = (member for member in members if member[1].candidate.name == "Wide")
    tried = [
        (model.candidate.name, recipe.init) for model, recipe in alternative_recipes(wide, members, CheckResults(files))
    ]
    assert tried == [("Net", "large()"), ("Net", "small()"), ("Net", "middle()")]


CODEC = """\
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.fc(x)


class Codec(nn.Module):
    def __init__(self, channels: int, width: int = 8):
        super().__init__()
        self.conv = nn.Conv1d(channels, width, 3, padding=1)

    def forward(self, x):
        return self.conv(x)

    def head(self):
        return Head(8)

    @staticmethod
    def mono():
        return Codec(1)

    @staticmethod
    def stereo():
        return Codec(2)


models = {"mono": Codec.mono(), "stereo": Codec.stereo()}
"""


def test_inputs_that_were_found_for_one_way_to_make_a_model_are_not_given_to_another(
    fxlsp: Fxlsp, tmp_path: Path
) -> None:
    (tmp_path / "codec.py").write_text(CODEC)
    assert fxlsp("check", "--format", "json", str(tmp_path / "codec.py")).json["problems"] == []


PADDED = """\
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.fc(x)


class Net(nn.Module):
    def __init__(self, kind, is_cut=False):
        super().__init__()
        self.is_cut = is_cut
        self.head = Head(16) if kind == "head" else nn.Linear(16, 4)

    def forward(self, x):
        if not self.is_cut and x.shape[-1] % 16:
            raise TypeError("16 divides no length of this input")
        return self.head(x[..., :16])


def test_cut():
    Net("linear", is_cut=True)(torch.randn(1, 37))


def test_head(lengths):
    check(Net("head"), lengths)
"""


def test_what_fails_with_inputs_of_another_way_to_make_a_model_is_a_note(fxlsp: Fxlsp, tmp_path: Path) -> None:
    (tmp_path / "padded.py").write_text(PADDED)
    problems = fxlsp("check", "--format", "json", str(tmp_path / "padded.py")).json["problems"]
    (failing,) = (each for each in problems if "16 divides no length" in each["message"])
    assert failing["severity"] == "info"
