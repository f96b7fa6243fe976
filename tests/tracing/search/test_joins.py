"""Which of several tensors that were joined is changed where they do not fit together."""

from __future__ import annotations

from collections.abc import Iterable

from fxlsp.tracing.search.rules.sizes import refitted
from fxlsp.tracing.search.runner import Join
from fxlsp.tracing.search.values import Edit, Group, Tensor, Text, Trial, edited


def trial(**inputs: Tensor) -> Trial:
    return Trial(Text("Net()"), Group("inputs", tuple(inputs.items())))


def inputs(given: Trial, edits: Iterable[Edit]) -> list[str]:
    trials = (edited(given, edit) for edit in edits)
    return [each.inputs.text for each in trials if each.inputs is not None]


def test_an_input_that_was_joined_as_it_is_becomes_what_the_others_leave() -> None:
    given = trial(x=Tensor((2, 8, 64, 64)), skip=Tensor((2, 32, 128, 128)))
    join = Join(((2, 96, 128, 128), (2, 32, 128, 128)), (2, 128, 128, 128))
    found = inputs(given, refitted(given, [join], got=128, want=192))
    assert found[0] == "torch.randn(2, 8, 64, 64), torch.randn(2, 96, 128, 128)"


def test_nothing_is_said_of_what_was_not_joined() -> None:
    given = trial(x=Tensor((2, 8, 64, 64)))
    join = Join(((2, 8, 64, 64), (2, 8, 64, 64)), (2, 16, 64, 64))
    assert list(refitted(given, [join], got=32, want=48)) == []
    assert list(refitted(given, [join], got=16, want=16)) == []


def test_the_dimension_along_which_tensors_were_joined_is_read_off_their_shapes() -> None:
    assert Join(((2, 3, 8), (2, 5, 8)), (2, 8, 8)).dimension == 1
    assert Join(((2, 3), (2, 5, 8)), (2, 8, 8)).dimension is None
