"""What is to be drawn, as JSON for the page.

The format is between this module and the page, which are always of the same version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypedDict

from fxlsp.engine.settings.policy import Policy
from fxlsp.graphview.boxes import Box, root_box
from fxlsp.ide.model_status import report_facts
from fxlsp.ide.render.numbers import flops_sum_text, short_count
from fxlsp.ide.render.shapes import flow_text, output_text
from fxlsp.ide.trace_view.provenance import is_guessed, readable_recipe, source_text
from fxlsp.ide.trace_view.report_index import index_of
from fxlsp.report.codes import page_url
from fxlsp.report.graph import Node, Output
from fxlsp.report.locations import Location
from fxlsp.report.problems import Problem
from fxlsp.report.report import Report

_Ends = tuple[tuple[int, int], tuple[int, int]]
"""Start and end of a location: lines and columns."""


class PlaceData(TypedDict):
    """A ``LOCATION`` whose file is given by number."""

    file: int
    line: int
    column: int
    endLine: int
    endColumn: int
    cell: int | None


class ItemData(TypedDict):
    """Fields that nodes and boxes have in common."""

    parent: int
    """Number of the box around it; -1 for the root."""
    name: str
    path: str | None
    """Module path."""
    title: str
    kind: str
    """Class of the module, or what is called."""
    shape: str
    """Shape of the output, after a tilde if the recipe is a guess."""
    flow: str
    """Shapes of the inputs and the output."""
    params: int
    flops: int | None
    cost: str
    share: float | None
    """Share of the known FLOPs of the whole model, 0 to 1; None if there are none."""
    place: PlaceData | None
    """Where it is called."""
    problems: list[int]


class NodeData(ItemData):
    """A node of the graph."""

    op: str
    target: str
    inputs: list[int]
    """Numbers of the nodes whose values it takes."""
    state: str
    """``recovered``, ``opaque`` or ""."""


class BoxData(ItemData):
    """A box, with the nodes and boxes in it."""

    first: int
    """Its first node; the items in one box are ordered by these."""
    count: int
    """Number of nodes inside, at any depth."""
    forward: PlaceData | None
    """The ``def`` of the ``forward`` that ran."""
    made: PlaceData | None
    """The expression that constructed the module."""


class ProblemData(TypedDict):
    """A problem, and the nodes that it is about."""

    code: str
    severity: str
    message: str
    page: str
    place: PlaceData | None
    path: str | None
    nodes: list[int]


class Picture(TypedDict):
    """Everything that the page shows."""

    title: str
    facts: list[str]
    recipe: str
    files: list[str]
    boxes: list[BoxData]
    """The root first, each after the one around it."""
    nodes: list[NodeData]
    problems: list[ProblemData]


def picture_of(report: Report, moved: Callable[[Location], Location | None] = lambda location: location) -> Picture:
    """Return what is to be drawn of ``report``.

    Args:
        moved: returns where a location of the report is in the current text, None if it was edited away.
    """
    return _Painter(report, moved).picture()


class _Painter:
    def __init__(self, report: Report, moved: Callable[[Location], Location | None]) -> None:
        self._report = report
        self._moved = moved
        self._usual = index_of(report).usual_dtype
        self._guess = "~" if is_guessed(report) else ""
        self._files: dict[str, int] = {}
        self._numbers = {node.name: number for number, node in enumerate(report.nodes)}
        self._modules = {module.path: module for module in report.modules}
        self._known_flops = sum(node.flops or 0 for node in report.nodes)
        self._marks = [marked_nodes(problem, report.nodes) for problem in report.problems]
        self._boxes: list[BoxData] = []
        self._parents: dict[int, int] = {}

    def picture(self) -> Picture:
        report = self._report
        self._add_box(root_box(report), -1)
        self._mark_boxes()
        nodes = [self._node(number, node) for number, node in enumerate(report.nodes)]
        problems = [self._problem(number, problem) for number, problem in enumerate(report.problems)]
        return {
            "title": report.target,
            "facts": [*report_facts(report, Policy()), f"{report.mode} mode"],
            "recipe": f"{readable_recipe(report.recipe)} ({source_text(report.recipe)})",
            "files": list(self._files),
            "boxes": self._boxes,
            "nodes": nodes,
            "problems": problems,
        }

    def _add_box(self, box: Box, parent: int) -> None:
        number = len(self._boxes)
        self._boxes.append(self._box(box, parent))
        for child in box.children:
            if isinstance(child, Box):
                self._add_box(child, number)
            else:
                self._parents[child] = number

    def _box(self, box: Box, parent: int) -> BoxData:
        call, inside = box.call, list(box.nodes())
        module = None if box.ends else self._modules.get(box.path)
        flops = [self._report.nodes[number].flops for number in inside]
        inputs, output = ((), None) if call is None else (call.inputs, call.output)
        params = module.params if module is not None else self._params_inside(inside)
        return {
            "parent": parent,
            "name": "",
            "path": box.path,
            "title": _box_title(box, self._report),
            "kind": _kind(box, module.type if module is not None else ""),
            "shape": "" if call is None else self._guess + output_text(output, self._usual),
            "flow": "" if call is None else self._guess + flow_text(inputs, output, self._usual),
            "params": params,
            "flops": None if None in flops else sum(each or 0 for each in flops),
            "cost": _cost(flops, params),
            "share": self._share(flops),
            "place": None if call is None else self._place(call.location),
            "problems": [],
            "first": inside[0] if inside else 0,
            "count": len(inside),
            "forward": None if call is None else self._place(call.forward),
            "made": None if module is None else self._place(module.location),
        }

    def _params_inside(self, numbers: Sequence[int]) -> int:
        """Return the parameters inside, each module or parameter once for all its calls."""
        nodes = [self._report.nodes[number] for number in numbers]
        return sum({(node.op, node.target): node.params for node in nodes}.values())

    def _share(self, flops: Sequence[int | None]) -> float | None:
        known = sum(each or 0 for each in flops)
        return round(known / self._known_flops, 4) if self._known_flops else None

    def _node(self, number: int, node: Node) -> NodeData:
        called = node.op not in ("placeholder", "output")
        assumed = "?" if node.assumed else ""
        return {
            "parent": self._parents[number],
            "name": node.name,
            "path": node.module_path,
            "title": (node.module_path or node.name).rpartition(".")[2] if node.op == "call_module" else node.name,
            "kind": _node_kind(node),
            "shape": self._shape(node.output) + assumed,
            "flow": self._guess + flow_text(node.inputs if called else (), node.output, self._usual) + assumed,
            "params": node.params,
            "flops": node.flops,
            "cost": _cost([node.flops], node.params) if called else "",
            "share": self._share([node.flops]),
            "place": self._place(node.location),
            "problems": [problem for problem, marked in enumerate(self._marks) if number in marked],
            "op": node.op,
            "target": node.target,
            "inputs": [self._numbers[name] for name in node.input_nodes if name in self._numbers],
            "state": "opaque" if node.opaque else "recovered" if node.recovered else "",
        }

    def _shape(self, output: Output | None) -> str:
        return self._guess + output_text(output, self._usual)

    def _problem(self, number: int, problem: Problem) -> ProblemData:
        return {
            "code": problem.code,
            "severity": problem.severity,
            "message": problem.message,
            "page": page_url(problem.code),
            "place": self._place(problem.location),
            "path": problem.module_path,
            "nodes": self._marks[number],
        }

    def _mark_boxes(self) -> None:
        """Mark the innermost box around a problem's module path, if it has no nodes."""
        paths = {box["path"]: number for number, box in reversed(list(enumerate(self._boxes)))}
        for number, problem in enumerate(self._report.problems):
            if not self._marks[number]:
                around = next(path for path in _upwards(problem.module_path or "") if path in paths)
                self._boxes[paths[around]]["problems"].append(number)

    def _place(self, location: Location | None) -> PlaceData | None:
        location = None if location is None else self._moved(location)
        if location is None:
            return None
        return {
            "file": self._files.setdefault(location.file, len(self._files)),
            "line": location.line,
            "column": location.column,
            "endLine": location.end_line,
            "endColumn": location.end_column,
            "cell": location.cell,
        }


def _upwards(path: str) -> Iterator[str]:
    """Yield ``layer1.0``, ``layer1`` and the root's path, which is empty."""
    while path:
        yield path
        path = path.rpartition(".")[0]
    yield ""


def _box_title(box: Box, report: Report) -> str:
    if box.ends is not None:
        return " … ".join(dict.fromkeys(box.ends))
    name = box.path.rpartition(".")[2] or report.target.rpartition(":")[2]
    turn, turns = box.turn
    return f"{name} ({turn} of {turns})" if turns > 1 else name


def _kind(box: Box, module_type: str) -> str:
    if box.ends is not None:
        return f"{len(box.children)} in a row"
    return module_type or (box.call.type if box.call is not None else "")


def _node_kind(node: Node) -> str:
    """Return what is called, in the terms of torch.fx."""
    if node.op == "call_module":
        return node.module_type or node.target
    if node.op == "call_method":
        return f".{node.target}"
    if node.op in ("call_function", "get_attr"):
        return node.target
    return node.op


def _cost(flops: Sequence[int | None], params: int) -> str:
    """Return ``236 MFLOPs · 9.41 K params``, without zeros; unknown FLOPs are marked."""
    facts = [flops_sum_text(flops)] if any(each is None or each for each in flops) else []
    return " · ".join([*facts, *([f"{short_count(params)} params"] if params else [])])


def marked_nodes(problem: Problem, nodes: Sequence[Node]) -> list[int]:
    """Return the numbers of the nodes that a problem is about.

    These are the nodes whose expressions are in the problem's span and inside no other expression there. If there are
    none, the expressions of the calls that led to a node are considered, then the smallest expression around the span.
    Empty if no node fits.
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
    """Return a sort key for locations around one: the inner of two is smaller."""
    return location.end_line - location.line, location.end_column - location.column
