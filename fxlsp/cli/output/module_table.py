"""Table of a model's modules: parameters, FLOPs and the size of what they yield, with equal neighbours as one row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from fxlsp.cli.output.excerpts import location_text
from fxlsp.ide.render.numbers import flops_sum_text, params_text, short_count
from fxlsp.ide.render.shapes import output_text
from fxlsp.ide.render.tables import TextTable
from fxlsp.ide.trace_view.module_tree import Registered, module_tree, place_of_module
from fxlsp.ide.trace_view.provenance import readable_recipe, source_text
from fxlsp.ide.trace_view.report_index import ReportIndex, batch_size
from fxlsp.report.graph import Module, ModuleCall, Node, Output
from fxlsp.report.report import Report
from fxlsp.report.serialization import JsonObject

_HEADING = ("module", "class", "output", "params", "FLOPs", "outputs", "calls", "place")
_NUMBERS = frozenset(("params", "FLOPs", "outputs", "calls"))
_INDENT = "  "
_FEWEST_ALIKE = 3
"""Smallest number of equal neighbours that are shown as one row."""
_MOST_ARGUMENTS = 40
"""Characters of a module's arguments."""
_NUMBERED = re.compile(r"\d+$")
_BYTES = {
    **dict.fromkeys(("bool", "uint8", "int8", "float8_e4m3fn", "float8_e5m2"), 1),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16"), 2),
    **dict.fromkeys(("float32", "int32", "uint32", "complex32"), 4),
    **dict.fromkeys(("float64", "int64", "uint64", "complex64"), 8),
    "complex128": 16,
}
"""Bytes of one element, by dtype."""


@dataclass(frozen=True)
class ModuleCost(JsonObject):
    """What one module costs, all its calls together."""

    path: str
    type: str
    calls: int
    params: int
    """Elements of the parameters of the module and its submodules, each parameter counted once."""
    flops: int | None
    """None if the FLOPs of an operation are unknown, or nothing is known of a call."""
    output_bytes: int | None
    """Size of the tensors that operations inside yield, whether they share memory or not; None if one is unknown."""
    output: Output | None
    """That of the first call."""


def module_costs(report: Report) -> dict[str, ModuleCost]:
    """Return the cost of each module of a report by its path, the root first."""
    calls: dict[str, list[ModuleCall]] = {}
    for call in report.calls:
        calls.setdefault(call.module_path, []).append(call)
    sizes = [_bytes(node) for node in report.nodes]
    return {
        module.path: ModuleCost(
            module.path,
            module.type,
            len(calls.get(module.path, ())),
            module.params,
            _sum(call.flops for call in calls.get(module.path, ())),
            _sum(_sum(sizes[call.first_node : call.end_node]) for call in calls.get(module.path, ())),
            next((call.output for call in calls.get(module.path, ())), None),
        )
        for module in report.modules
    }


def summary_lines(report: Report, *, unfolded: bool = False) -> list[str]:
    """Return the table of a report's modules, with the model above it and the totals below.

    Args:
        unfolded: whether equal neighbours in a container have a row each.
    """
    costs, tree = module_costs(report), module_tree(report)
    index = ReportIndex(report)
    table = TextTable(_HEADING, tuple(_rows([tree[""]], 0, costs, index.usual_dtype, unfolded)), _NUMBERS)
    source = source_text(report.recipe)
    recipe = f"{readable_recipe(report.recipe)} ({source})" if report.recipe.init else source
    return [
        f"{report.target}: {recipe}, {report.mode} mode",
        "",
        *table.lines(limit=None),
        "",
        " · ".join(_totals(report, costs[""])),
    ]


def _rows(
    group: Sequence[Registered], depth: int, costs: dict[str, ModuleCost], usual: str | None, unfolded: bool
) -> Iterator[tuple[str, ...]]:
    """Yield the row of equal modules, with what they cost together, and the rows of what is in them."""
    first = group[0].module
    found = [costs[each.module.path] for each in group]
    place = place_of_module(first)
    ran = any(cost.calls for cost in found)
    yield (
        _INDENT * depth + _name(group),
        _class(first),
        output_text(found[0].output, usual) if found[0].output is not None else "",
        _count(sum(cost.params for cost in found)),
        _count(_sum(cost.flops for cost in found)) if ran else "",
        bytes_text(_sum(cost.output_bytes for cost in found)) if ran else "",
        str(sum(cost.calls for cost in found)),
        location_text(place) if place is not None else "",
    )
    for below in _below(group, unfolded):
        yield from _rows(below, depth + 1, costs, usual, unfolded)


def _below(group: Sequence[Registered], unfolded: bool) -> Iterator[list[Registered]]:
    """Yield the groups of equal children; those of equal modules correspond by their order."""
    children = group[0].children
    position = {id(child): number for number, child in enumerate(children)}
    for alike in [[child] for child in children] if unfolded else _alike(children):
        yield [each.children[position[id(child)]] for each in group for child in alike]


def _alike(children: Sequence[Registered]) -> Iterator[list[Registered]]:
    """Yield the children in order, neighbours together that are equal but for the numbers at the end of their names."""
    for (stem, _), found in groupby(children, key=lambda child: (_NUMBERED.sub("", child.name), child.form)):
        alike = list(found)
        if len(alike) >= _FEWEST_ALIKE and alike[0].name != stem:
            yield alike
        else:
            yield from ([each] for each in alike)


def _name(group: Sequence[Registered]) -> str:
    names = list(dict.fromkeys(each.name for each in group))
    stem = _NUMBERED.sub("", names[0])
    numbers = [name.removeprefix(stem) for name in names]
    return names[0] or "(root)" if len(names) == 1 else f"{stem}{{{numbers[0]}..{numbers[-1]}}}"


def _class(module: Module) -> str:
    """Return the class of a module, with as many of its arguments as a line has space for."""
    arguments = module.arguments
    cut = arguments if len(arguments) <= _MOST_ARGUMENTS else f"{arguments[: _MOST_ARGUMENTS - 1].rstrip(', ')}…"
    return f"{module.type}({cut})" if cut else module.type


def _totals(report: Report, root: ModuleCost) -> Iterator[str]:
    yield params_text(root.params)
    flops = [node.flops for node in report.nodes]
    yield flops_sum_text(flops)
    batch = batch_size(report)
    if batch is not None and batch > 1 and None not in flops:
        yield f"{flops_sum_text([sum(each or 0 for each in flops) // batch])} a sample"
    yield f"outputs {bytes_text(root.output_bytes)}"


def bytes_text(count: int | None) -> str:
    """Return ``25.1 MB``; None is an unknown size.

    Example:
        >>> bytes_text(2_500_000)
        '2.5 MB'
    """
    return "?" if count is None else f"{short_count(count).replace('K', 'k')}{'' if count >= 1000 else ' '}B"


def _count(count: int | None) -> str:
    return "?" if count is None else short_count(count) if count else ""


def _bytes(node: Node) -> int | None:
    """Return the size of what a node yields; 0 for inputs and outputs of the graph, which it does not make."""
    return 0 if node.op in ("placeholder", "output", "get_attr") else _output_bytes(node.output)


def _output_bytes(output: Output | None) -> int | None:
    if output is None:
        return None
    if "shape" in output:
        size = _BYTES.get(output["dtype"])
        for length in output["shape"]:
            size = None if size is None else size * length
        return size
    parts = output.get("list") or (output.get("dict") or {}).values()
    return _sum(map(_output_bytes, parts))


def _sum(parts: Iterable[int | None]) -> int | None:
    total = 0
    for part in parts:
        if part is None:
            return None
        total += part
    return total
