"""Boxes of the picture: one for each call of a module, nested by module path."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fxlsp.report.graph import ModuleCall, Node
from fxlsp.report.report import Report

LARGEST_LEVEL = 60
"""Most children of one box. More are split into groups of neighbours, because a layout must not take long."""
_GROUP_SIZE = 30


@dataclass(slots=True, eq=False)
class Box:
    """Call of a module, container that is never called, or group of neighbours in one."""

    path: str
    """Module path; for a group, that of the box around it."""
    call: ModuleCall | None = None
    """None for a container whose children are called by others, and for a group."""
    turn: tuple[int, int] = (1, 1)
    """Which call of its module it is, and of how many."""
    ends: tuple[str, str] | None = None
    """Names of the first and the last child of a group; None for a module."""
    children: list[Box | int] = field(default_factory=list)
    """Boxes, and nodes by their number, in the order in which they ran."""

    def nodes(self) -> Iterator[int]:
        """Yield the numbers of the nodes in the box, at any depth, in order."""
        for child in self.children:
            if isinstance(child, Box):
                yield from child.nodes()
            else:
                yield child


def root_box(report: Report) -> Box:
    """Return the box of the whole model, with all others inside."""
    root = _Boxes(report).root
    _group_wide_levels(root, report.nodes)
    return root


def box_path(node: Node) -> str:
    """Return the path of the module in which a node is drawn.

    For a leaf module, this is the module that holds it.
    """
    if node.op in ("placeholder", "output"):
        return ""
    if node.op == "call_module" and node.module_path is not None:
        return node.module_path.rpartition(".")[0]
    if node.module_path is not None:
        return node.module_path
    # What FX reads while it creates arguments has no module of its own: it is drawn in the module that reads it.
    return (node.stack[-1].module_path if node.stack else None) or ""


class _Boxes:
    def __init__(self, report: Report) -> None:
        self._calls: dict[str, list[ModuleCall]] = {}
        for call in report.calls:
            if not call.leaf:
                self._calls.setdefault(call.module_path, []).append(call)
        self._made: dict[tuple[Box, str, int], Box] = {}
        self.root = Box("", next(iter(self._calls.get("", ())), None))
        for number, node in enumerate(report.nodes):
            self._box_at(box_path(node), number).children.append(number)

    def _box_at(self, path: str, number: int) -> Box:
        """Return the box of a path around a node, created with its first node."""
        box = self.root
        for prefix in _prefixes(path):
            turn = self._turn(prefix, number)
            if (box, prefix, turn) not in self._made:
                inner = self._made[box, prefix, turn] = self._new(prefix, turn)
                box.children.append(inner)
            box = self._made[box, prefix, turn]
        return box

    def _turn(self, path: str, number: int) -> int:
        """Return which call of a module, from 0, ran a node; -1 for none."""
        calls = self._calls.get(path, [])
        turn = bisect_right(calls, number, key=lambda call: call.first_node) - 1
        return turn if turn >= 0 and number < calls[turn].end_node else -1

    def _new(self, path: str, turn: int) -> Box:
        calls = self._calls.get(path, [])
        return Box(path) if turn < 0 else Box(path, calls[turn], (turn + 1, len(calls)))


def _prefixes(path: str) -> Iterator[str]:
    """Yield ``layer1`` and ``layer1.0`` for ``layer1.0``; nothing for the root."""
    parts = path.split(".") if path else []
    return (".".join(parts[: end + 1]) for end in range(len(parts)))


def _group_wide_levels(box: Box, nodes: Sequence[Node]) -> None:
    while len(box.children) > LARGEST_LEVEL:
        size = max(_GROUP_SIZE, -(-len(box.children) // LARGEST_LEVEL))
        parts = [box.children[start : start + size] for start in range(0, len(box.children), size)]
        box.children = [_group(box.path, part, nodes) for part in parts]
    for child in box.children:
        if isinstance(child, Box):
            _group_wide_levels(child, nodes)


def _group(path: str, part: list[Box | int], nodes: Sequence[Node]) -> Box:
    ends = _ends(part[0], nodes)[0], _ends(part[-1], nodes)[1]
    return Box(path, ends=ends, children=part)


def _ends(child: Box | int, nodes: Sequence[Node]) -> tuple[str, str]:
    if isinstance(child, int):
        return nodes[child].name, nodes[child].name
    name = child.path.rpartition(".")[2]
    return child.ends or (name, name)
