"""Which of several tensors that were joined is changed where they do not fit together."""

from __future__ import annotations

from fxlsp.tracing.search.guesses import Group, Tensor, Text, Trial
from fxlsp.tracing.search.joins import Join, refitted


def trial(**inputs: Tensor) -> Trial:
    return Trial(Text("Net()"), Group("fed", tuple(inputs.items())))


def feeds(trials: list[Trial]) -> list[str]:
    return [each.fed.text for each in trials if each.fed is not None]


def test_an_input_that_was_joined_as_it_is_becomes_what_the_others_leave() -> None:
    given = trial(x=Tensor((2, 8, 64, 64)), skip=Tensor((2, 32, 128, 128)))
    join = Join(((2, 96, 128, 128), (2, 32, 128, 128)), (2, 128, 128, 128))
    found = feeds(list(refitted(given, [join], got=128, want=192)))
    assert found[0] == "torch.randn(2, 8, 64, 64), torch.randn(2, 96, 128, 128)"


def test_nothing_is_said_of_what_was_not_joined() -> None:
    given = trial(x=Tensor((2, 8, 64, 64)))
    join = Join(((2, 8, 64, 64), (2, 8, 64, 64)), (2, 16, 64, 64))
    assert list(refitted(given, [join], got=32, want=48)) == []
    assert list(refitted(given, [join], got=16, want=16)) == []


def test_the_dimension_along_which_tensors_were_joined_is_read_off_their_shapes() -> None:
    assert Join(((2, 3, 8), (2, 5, 8)), (2, 8, 8)).dimension == 1
    assert Join(((2, 3), (2, 5, 8)), (2, 8, 8)).dimension is None
