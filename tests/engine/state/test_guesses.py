"""The memory of guesses: by the texts on which they were found."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fxlsp.engine.state.guesses import Guesses
from fxlsp.engine.state.snapshot import ModelKey
from fxlsp.report.recipes import Recipe
from fxlsp.report.sizes import Sizes

KEY = ModelKey("python", "net.py", "Net", None)
FIRST, SECOND = (Recipe("Net()", inputs, "search") for inputs in ("torch.randn(2)", "torch.randn(3)"))


def of(text: str) -> dict[str, str]:
    return {"net.py": text}


def now(text: str) -> Callable[[Mapping[str, str]], bool]:
    return lambda texts: texts == of(text)


def test_a_text_that_comes_back_has_the_guess_that_it_had() -> None:
    guesses = Guesses()
    guesses.remember(KEY, of("a"), FIRST)
    guesses.remember(KEY, of("b"), SECOND)
    assert guesses.guess_of(KEY, now("a")) == FIRST
    assert guesses.guess_of(KEY, now("b")) == SECOND


def test_a_new_text_begins_with_the_last_guess_that_had_inputs() -> None:
    guesses = Guesses()
    guesses.remember(KEY, of("a"), FIRST)
    guesses.remember(KEY, of("b"), Recipe("Net()", None, "default"))
    assert guesses.guess_of(KEY, now("c")) == FIRST
    assert guesses.guess_of(KEY, now("b")) is None


def test_a_recipe_that_was_written_meanwhile_leaves_the_guess_as_it_was() -> None:
    guesses, written = Guesses(), ModelKey("python", "net.py", "Net", Recipe("Net()", "x", "comment"))
    guesses.remember(KEY, of("a"), FIRST)
    guesses.remember(written, of("a"), Recipe("Net()", "x", "comment"))
    assert guesses.guess_of(KEY, now("a")) == FIRST


def test_sizes_that_the_user_wants_have_guesses_of_their_own() -> None:
    guesses = Guesses()
    guesses.remember(KEY, of("a"), FIRST)
    assert guesses.guess_of(ModelKey("python", "net.py", "Net", None, sizes=Sizes(batch=7)), now("a")) is None


def test_a_guess_replaces_another_unless_its_text_was_there_before() -> None:
    guesses = Guesses()
    assert guesses.replaced_by(KEY, FIRST, now("a")) is None
    guesses.remember(KEY, of("a"), FIRST)
    assert guesses.replaced_by(KEY, FIRST, now("b")) is None
    assert guesses.replaced_by(KEY, SECOND, now("b")) == FIRST
    guesses.remember(KEY, of("b"), SECOND)
    assert guesses.replaced_by(KEY, FIRST, now("a")) is None


def test_the_guesses_of_one_file_are_forgotten_alone() -> None:
    guesses, other = Guesses(), ModelKey("python", "other.py", "Net", None)
    for key in (KEY, other):
        guesses.remember(key, of("a"), FIRST)
    guesses.forget("net.py")
    assert guesses.guess_of(KEY, now("a")) is None
    assert guesses.guess_of(other, now("a")) == FIRST


def test_a_thousand_texts_leave_the_newest_known() -> None:
    guesses = Guesses()
    guesses.remember(KEY, of("a"), FIRST)
    for number in range(1000):
        guesses.remember(KEY, of(str(number)), SECOND)
    assert guesses.guess_of(KEY, now("999")) == SECOND
    assert guesses.replaced_by(KEY, FIRST, now("a")) == SECOND
