"""What is read from the error of a failed trial."""

from __future__ import annotations

import pytest

from fxlsp.tracing.search.evidence import unpacked_names


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("a, b = [1, 2, 3]", 2),
        ("a, b, c = [1, 2]", 3),
        ("[a, b] = iter('xyz')", 2),
        ("for a, b in [(1, 2, 3)]: pass", 2),
    ],
)
def test_the_names_are_counted_into_which_python_unpacks_too_many_or_few_values(statement: str, names: int) -> None:
    with pytest.raises(ValueError, match="unpack") as raised:
        exec(statement)
    assert unpacked_names(str(raised.value)) == names


def test_names_beside_a_starred_one_count_only_if_that_is_wanted() -> None:
    with pytest.raises(ValueError, match="unpack") as raised:
        exec("a, *rest, b = [1]")
    assert unpacked_names(str(raised.value)) is None
    assert unpacked_names(str(raised.value), starred=True) == 2


def test_another_error_counts_nothing() -> None:
    assert unpacked_names("cannot unpack non-iterable int object", starred=True) is None
