"""Lists that were too short, and lists of feature maps of falling edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.tracing.search.rules.sequences import pyramids
from fxlsp.tracing.search.trials.values import Group, Size, Tensor, Trial, edited, of_length, several
from tests.tracing.search.frames import net, trials_after

LEVELS = "self.levels = nn.ModuleList([nn.Conv2d({}, 8, 1) for {}])"


@pytest.mark.parametrize(
    ("arguments", "made", "run", "init", "inputs"),
    [
        pytest.param(
            "channels",
            LEVELS.format("each", "each in channels"),
            "return self.levels[3](x)",
            "Net(channels=[32, 32, 32, 32])",
            "torch.randn(2, 32, 64, 64)",
            id="as many modules as one index asks for",
        ),
        pytest.param(
            "",
            LEVELS.format("6", "_ in range(4)"),
            "assert isinstance(x, (list, tuple))\nreturn [level(x[i]) for i, level in enumerate(self.levels)]",
            "Net()",
            None,
            id="as many inputs as there are modules",
        ),
        pytest.param(
            "",
            LEVELS.format("6", "_ in range(5)"),
            "assert len(x) == 5\nreturn [level(each) for level, each in zip(self.levels, x)]",
            "Net()",
            f"[{', '.join(['torch.randn(2, 6, 64, 64)'] * 5)}]",
            id="as many inputs as are asserted",
        ),
        pytest.param(
            "",
            LEVELS.format("6", "_ in range(3)"),
            "for i in range(3):\n    x[i] = self.levels[i](x[i])\nreturn x",
            "Net()",
            f"[{', '.join(['torch.randn(2, 6, 64, 64)'] * 3)}]",
            id="what items are stored in",
        ),
        pytest.param(
            "",
            LEVELS.format("6", "_ in range(3)"),
            "a, b, c = x\n"
            "b = self.levels[1](b) + F.interpolate(self.levels[2](c), scale_factor=2)\n"
            "return self.levels[0](a) + F.interpolate(b, scale_factor=2)",
            "Net()",
            "(torch.randn(2, 6, 64, 64), torch.randn(2, 6, 32, 32), torch.randn(2, 6, 16, 16))",
            id="a feature pyramid",
        ),
        pytest.param(
            "dilations, kind",
            "if kind == 'deep':\n"
            "    self.a = nn.ModuleList(nn.Conv1d(4, 4, 3, padding=row[2], dilation=row[2]) for row in dilations)\n"
            "else:\n"
            "    self.a = nn.ModuleList(nn.Conv1d(4, 4, 3, padding=row[1], dilation=row[0]) for row in dilations)",
            "return [layer(x) for layer in self.a]",
            "Net(dilations=[[1, 1, 1], [1, 1, 1], [1, 1, 1]], kind='deep')",
            None,
            id="rows that are all as long as one is asked for",
        ),
        pytest.param(
            "",
            LEVELS.format("6", "_ in range(3)"),
            "for i in range(3):\n    x[i] = self.levels[i](x[i])\nreturn x[2]",
            "Net()",
            "[torch.randn(2, 6, 64, 64), torch.randn(2, 6, 64, 64), torch.randn(2, 6, 64, 64)]",
            id="a list whose items are replaced one by one",
        ),
    ],
)
def test_lists_are_as_long_and_maps_as_large_as_they_must_be(
    arguments: str, made: str, run: str, init: str, inputs: str | None, worker: Any, write: Callable[..., str]
) -> None:
    text = net(arguments, made, "x", run).replace("__init__(self, )", "__init__(self)")
    recipe = worker.report(write(text) + ":Net").recipe
    assert recipe.init == init
    assert recipe.inputs is not None
    if inputs is not None:
        assert recipe.inputs == inputs


def test_modules_that_are_too_few_are_about_what_the_model_is_made_of_and_not_what_it_is_fed() -> None:
    made = Group("call", (("channels", Group("list", (("[0]", Size(8)), ("[1]", Size(8))))),), "Net")
    trial = Trial(made, Group("inputs", (("x", several(Tensor((2, 8, 16, 16)), 3)),)))
    # As torch's containers of modules say it.
    longer = trials_after(trial, IndexError("index 2 is out of range"), "items that are missing")
    assert "Net(channels=[8, 8, 8])" in {each.init.text for each in longer}
    assert {each.inputs for each in longer} == {trial.inputs}


def test_a_longer_list_repeats_its_last_item_and_a_shorter_one_has_the_first() -> None:
    group = Group("tuple", (("[0]", Size(3)), ("[1]", Size(5))))
    assert of_length(group, 3).text == "(3, 5, 5)"
    assert of_length(group, 1).text == "(3,)"


def test_edges_of_maps_fall_or_rise_by_halves() -> None:
    fed = Group("inputs", (("x", several(Tensor((2, 6, 64, 64)), 3)),))
    given = Trial(Size(1), fed)
    trials = (edited(given, edit) for edit in pyramids(given))
    found = [trial.inputs.text for trial in trials if trial.inputs is not None]
    maps = ["torch.randn(2, 6, 64, 64)", "torch.randn(2, 6, 32, 32)", "torch.randn(2, 6, 16, 16)"]
    assert found == [f"[{', '.join(maps)}]", f"[{', '.join(reversed(maps))}]"]


def test_sequences_and_single_maps_are_no_pyramids() -> None:
    for tensor, count in ((Tensor((2, 16, 32)), 3), (Tensor((2, 6, 64, 64)), 1)):
        assert not list(pyramids(Trial(Size(1), Group("inputs", (("x", several(tensor, count)),)))))
