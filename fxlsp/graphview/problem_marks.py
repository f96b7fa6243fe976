"""Which nodes a problem is about, so that the picture can mark them."""

from __future__ import annotations

from collections.abc import Sequence

from fxlsp.report.graph import Node
from fxlsp.report.locations import Location
from fxlsp.report.problems import Problem

_Ends = tuple[tuple[int, int], tuple[int, int]]
"""Where a place begins and ends: lines and columns."""


def marked_nodes(problem: Problem, nodes: Sequence[Node]) -> list[int]:
    """The numbers of the nodes that arose at the place of ``problem``; none where it is about no node.

    Of what lies in the span, that counts which is inside nothing else there; what is around the span, only if nothing
    lies in it; and a node's own expression before the calls that led to it.
    """
    place = problem.location
    if place is None:
        return []
    own = [(number, node.location) for number, node in enumerate(nodes) if node.location is not None]
    outer = [(number, step.location) for number, node in enumerate(nodes) for step in node.stack[:-1]]
    return _inside(place, own) or _inside(place, outer) or _closest_around(place, own)


def _inside(place: Location, candidates: Sequence[tuple[int, Location]]) -> list[int]:
    inside = [(number, location) for number, location in candidates if _contains(place, location)]
    spans = {_ends(location) for _, location in inside}
    whole = {span for span in spans if not any(_holds(other, span) for other in spans if other != span)}
    return list(dict.fromkeys(number for number, location in inside if _ends(location) in whole))


def _closest_around(place: Location, candidates: Sequence[tuple[int, Location]]) -> list[int]:
    around = [(number, location) for number, location in candidates if _contains(location, place)]
    if not around:
        return []
    closest = min((location for _, location in around), key=_size)
    return [number for number, location in around if _ends(location) == _ends(closest)]


def _contains(outer: Location, inner: Location) -> bool:
    return (outer.file, outer.cell) == (inner.file, inner.cell) and _holds(_ends(outer), _ends(inner))


def _holds(outer: _Ends, inner: _Ends) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _ends(location: Location) -> _Ends:
    return (location.line, location.column), (location.end_line, location.end_column)


def _size(location: Location) -> tuple[int, int]:
    """Orders places that all contain one: of two, the inner one is smaller."""
    return location.end_line - location.line, location.end_column - location.column
