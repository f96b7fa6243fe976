"""Errors of torch.fx that the model itself catches: it goes another way than it does when it runs."""

from __future__ import annotations

import pytest

from tests.support.cases import ELSEWHERE, Case, StandElsewhere, Stands, Traces

SWALLOWED = {
    "control flow": Case(
        "try:\n    if ⟦x.sum() > 0⟧:\n        return x + 1\n    return x - 1\nexcept ValueError:\n    return x"
    ),
    "a conversion": Case("try:\n    n = ⟦int(x.size(0))⟧\nexcept TypeError:\n    n = 5\nreturn x * n"),
    "any exception": Case("try:\n    n = ⟦len(x)⟧\nexcept Exception:\n    n = 5\nreturn x * n"),
    "a bare except": Case("try:\n    n = ⟦len(x)⟧\nexcept:\n    n = 5\nreturn x * n"),
    "one of several": Case(
        "try:\n    n = ⟦float(x.size(0))⟧\nexcept (KeyError, TypeError) as error:\n    n = 5\nreturn x * n"
    ),
    "the second clause": Case(
        "try:\n    n = ⟦float(x.size(0))⟧\nexcept KeyError:\n    n = 4\nexcept TypeError:\n    n = 5\nreturn x * n"
    ),
    "a loop": Case("y = 0\ntry:\n    for row in ⟦x⟧:\n        y = y + row\nexcept ValueError:\n    y = x\nreturn y"),
    "a finally": Case("try:\n    n = ⟦len(x)⟧\nexcept RuntimeError:\n    n = 5\nfinally:\n    m = 1\nreturn x * n * m"),
    "a caller": Case(
        "try:\n    n = rows(x)\nexcept RuntimeError:\n    n = 5\nreturn x * n",
        top="def rows(x):\n    return ⟦len(x)⟧\n",
    ),
    "suppress": Case(
        "n = 5\nwith contextlib.suppress(RuntimeError):\n    n = ⟦len(x)⟧\nreturn x * n", top="import contextlib"
    ),
}


@pytest.mark.parametrize("name", SWALLOWED)
def test_what_is_swallowed_is_located_at_what_raised(name: str, stands: Stands) -> None:
    stands(SWALLOWED[name], "FX314")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_what_is_swallowed_is_located_at_what_raised_elsewhere(spelling: str, stand_elsewhere: StandElsewhere) -> None:
    stand_elsewhere(SWALLOWED, "FX314", spelling)


NOT_SWALLOWED = {
    "another exception": Case("try:\n    n = ⟦len(x)⟧\nexcept KeyError:\n    n = 5\nreturn x * n"),
    "in the clause": Case("try:\n    n = {}['a']\nexcept KeyError:\n    n = ⟦len(x)⟧\nreturn x * n"),
    "in the else": Case("try:\n    n = 1\nexcept RuntimeError:\n    n = 5\nelse:\n    n = ⟦len(x)⟧\nreturn x * n"),
    "a finally alone": Case("try:\n    n = ⟦len(x)⟧\nfinally:\n    m = 1\nreturn x * n * m"),
    "a clause that raises again": Case("try:\n    n = ⟦len(x)⟧\nexcept RuntimeError:\n    raise\nreturn x * n"),
    "a clause that raises another": Case(
        "try:\n    n = ⟦len(x)⟧\nexcept RuntimeError as error:\n    raise ValueError('no') from error\nreturn x * n"
    ),
}


@pytest.mark.parametrize("name", NOT_SWALLOWED)
def test_what_is_not_swallowed_is_what_it_is(name: str, stands: Stands) -> None:
    stands(NOT_SWALLOWED[name], "FX103")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_what_is_not_swallowed_is_what_it_is_elsewhere(spelling: str, stand_elsewhere: StandElsewhere) -> None:
    stand_elsewhere(NOT_SWALLOWED, "FX103", spelling)


TRACES = {
    "a missing attribute": Case("try:\n    y = self.gone\nexcept AttributeError:\n    y = 2\nreturn x * y"),
    "a missing key": Case("try:\n    y = {}['a']\nexcept KeyError:\n    y = 2\nreturn x * y"),
    "nothing raised": Case("try:\n    y = x + 1\nexcept Exception:\n    y = x\nreturn y"),
    "an import": Case(
        "try:\n    import no_such_package\nexcept ImportError:\n    no_such_package = None\nreturn x + 1"
    ),
}


@pytest.mark.parametrize("name", TRACES)
def test_exceptions_of_the_models_own_are_silent(name: str, traces: Traces) -> None:
    traces(TRACES[name])
