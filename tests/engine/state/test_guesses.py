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
    guesses.remember(KEY, "a", of("a"), FIRST)
    guesses.remember(KEY, "b", of("b"), SECOND)
    assert guesses.guess_of(KEY, ("a",), now("a")) == FIRST
    assert guesses.guess_of(KEY, ("b",), now("b")) == SECOND


def test_a_new_text_begins_with_the_last_guess_that_had_inputs() -> None:
    guesses = Guesses()
    guesses.remember(KEY, "a", of("a"), FIRST)
    guesses.remember(KEY, "b", of("b"), Recipe("Net()", None, "default"))
    assert guesses.guess_of(KEY, ("c",), now("c")) == FIRST
    assert guesses.guess_of(KEY, ("b",), now("b")) is None


def test_a_recipe_that_was_written_meanwhile_leaves_the_guess_as_it_was() -> None:
    guesses, written = Guesses(), ModelKey("python", "net.py", "Net", Recipe("Net()", "x", "comment"))
    guesses.remember(KEY, "a", of("a"), FIRST)
    guesses.remember(written, "a", of("a"), Recipe("Net()", "x", "comment"))
    assert guesses.guess_of(KEY, ("a",), now("a")) == FIRST


def test_sizes_that_the_user_wants_have_guesses_of_their_own() -> None:
    guesses = Guesses()
    guesses.remember(KEY, "a", of("a"), FIRST)
    assert guesses.guess_of(ModelKey("python", "net.py", "Net", None, sizes=Sizes(batch=7)), ("a",), now("a")) is None


def test_a_guess_replaces_another_unless_its_text_was_there_before() -> None:
    guesses = Guesses()
    assert guesses.replaced_by(KEY, "a", of("a"), FIRST) is None
    guesses.remember(KEY, "a", of("a"), FIRST)
    assert guesses.replaced_by(KEY, "b", of("b"), FIRST) is None
    assert guesses.replaced_by(KEY, "b", of("b"), SECOND) == FIRST
    guesses.remember(KEY, "b", of("b"), SECOND)
    assert guesses.replaced_by(KEY, "a", of("a"), FIRST) is None


def test_the_guesses_of_one_file_are_forgotten_alone() -> None:
    guesses, other = Guesses(), ModelKey("python", "other.py", "Net", None)
    for key in (KEY, other):
        guesses.remember(key, "a", of("a"), FIRST)
    guesses.forget("net.py")
    assert guesses.guess_of(KEY, ("a",), now("a")) is None
    assert guesses.guess_of(other, ("a",), now("a")) == FIRST


def test_a_thousand_texts_leave_the_newest_known() -> None:
    guesses = Guesses()
    guesses.remember(KEY, "a", of("a"), FIRST)
    for number in range(1000):
        guesses.remember(KEY, str(number), of(str(number)), SECOND)
    assert guesses.guess_of(KEY, ("999",), now("999")) == SECOND
    assert guesses.replaced_by(KEY, "a", of("a"), FIRST) == SECOND


def test_a_text_in_another_file_that_comes_back_has_the_guess_that_it_had() -> None:
    guesses = Guesses()
    for number in range(100):
        guesses.remember(KEY, "a", {**of("a"), "layers.py": str(number)}, FIRST if number == 90 else SECOND)
    for programs in (("a",), ()):
        assert guesses.guess_of(KEY, programs, lambda texts: texts["layers.py"] == "90") == FIRST


def test_what_is_looked_at_for_a_text_does_not_grow_with_the_texts_before() -> None:
    guesses = Guesses()
    for number in range(1000):
        guesses.remember(KEY, str(number % 100), {**of(str(number % 100)), "layers.py": str(number)}, FIRST)
    looked_at: list[Mapping[str, str]] = []

    def never_holds(texts: Mapping[str, str]) -> bool:
        looked_at.append(texts)
        return False

    assert guesses.guess_of(KEY, ("new",), never_holds) == FIRST
    assert looked_at == []
    assert guesses.guess_of(KEY, ("7",), never_holds) == FIRST
    assert [texts["layers.py"] for texts in looked_at] == [str(number) for number in range(907, 0, -100)]


def test_a_guess_that_was_found_while_the_file_was_closed_is_the_one_after_it_was_opened() -> None:
    guesses = Guesses()
    guesses.remember(KEY, "digest of a", of("a"), FIRST)
    guesses.remember(KEY, "digest of b", of("b"), SECOND)
    assert guesses.guess_of(KEY, ("digest of a", "program of a"), now("a")) == FIRST
    assert guesses.guess_of(KEY, (), now("a")) == FIRST
