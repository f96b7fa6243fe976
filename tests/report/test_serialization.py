"""Rules of the conversion between dataclasses and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from fxlsp.report.serialization import INLINE, UNLESS_DEFAULT, JsonObject, json_functions


@dataclass(frozen=True, slots=True)
class Point(JsonObject):
    x: int
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class Shape(JsonObject):
    kind: Literal["line", "polygon"]
    center: Point = field(metadata=INLINE)
    points: tuple[Point, ...]
    label: Point | None = None
    names: tuple[str, ...] = ()
    holes: tuple[Point, ...] | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    note: str | None = field(default=None, metadata=UNLESS_DEFAULT)
    extra: dict[str, Any] = field(default_factory=dict, metadata=UNLESS_DEFAULT)


@dataclass(frozen=True, slots=True)
class Wrapped(JsonObject):
    inner: Point

    def to_json(self) -> dict[str, Any]:
        return {"wrapped": self.inner.x}

    @classmethod
    def from_json(cls, data: Any) -> Wrapped:
        return cls(Point(data["wrapped"]))


@dataclass(frozen=True, slots=True)
class Holder(JsonObject):
    items: tuple[Wrapped, ...]


@dataclass
class Odd(JsonObject):
    found: set[str]


PLAIN = Shape("line", Point(1), (Point(2, 3.0),))
FULL = Shape("polygon", Point(1), (), Point(4), ("a",), (Point(5),), {"s": 1}, "n", {"e": None})


def test_keys_are_those_of_the_fields_in_their_order() -> None:
    assert PLAIN.to_json() == {
        "kind": "line",
        "x": 1,
        "y": 0.0,
        "points": [{"x": 2, "y": 3.0}],
        "label": None,
        "names": [],
        "holes": None,
        "sizes": {},
    }
    assert list(FULL.to_json()) == ["kind", "x", "y", "points", "label", "names", "holes", "sizes", "note", "extra"]
    assert FULL.to_json()["holes"] == [{"x": 5, "y": 0.0}]


@pytest.mark.parametrize("shape", [PLAIN, FULL], ids=["plain", "full"])
def test_what_is_written_can_be_read(shape: Shape) -> None:
    assert Shape.from_json(shape.to_json()) == shape


def test_unknown_keys_are_ignored_and_those_of_fields_with_a_default_may_be_absent() -> None:
    data = {"kind": "line", "x": 1, "y": 0.0, "points": [{"x": 2, "y": 3.0, "z": 4}], "colour": "red"}
    assert Shape.from_json(data) == PLAIN


def test_a_default_that_is_made_up_is_not_shared() -> None:
    data = {"kind": "line", "x": 1, "y": 0.0, "points": []}
    Shape.from_json(data).extra["changed"] = True
    assert Shape.from_json(data).extra == {}


@pytest.mark.parametrize(
    ("data", "error"),
    [({"x": 1}, "kind"), ({"kind": "line", "points": []}, "x"), ({"kind": "line", "x": 1, "points": [{}]}, "x")],
)
def test_a_key_that_is_needed_and_absent_is_named(data: dict[str, Any], error: str) -> None:
    with pytest.raises(KeyError, match=error):
        Shape.from_json(data)


def test_a_class_may_write_and_read_itself() -> None:
    holder = Holder((Wrapped(Point(3)),))
    assert holder.to_json() == {"items": [{"wrapped": 3}]}
    assert Holder.from_json(holder.to_json()) == holder


def test_a_field_without_a_rule_is_refused_before_anything_is_written() -> None:
    with pytest.raises(TypeError, match="no rule to write set"):
        json_functions(Odd)
