"""Hovers of modules: at their construction, and at attributes that hold them.

Parameters and FLOPs of a module's children are in a table, with one row for equal children.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fxlsp.ide.hover.comment_text import comment_of_runs
from fxlsp.ide.hover.text import HoverText
from fxlsp.ide.render.numbers import counted, flops_text, params_text, short_count
from fxlsp.ide.render.path_patterns import compact_paths
from fxlsp.ide.render.rich_text import RichText, code, dotted, words
from fxlsp.ide.render.shapes import flow_text
from fxlsp.ide.render.tables import TextTable
from fxlsp.ide.trace_view.at_cursor import runs_of
from fxlsp.ide.trace_view.in_trace import InTrace
from fxlsp.ide.trace_view.instances import Focus
from fxlsp.ide.trace_view.provenance import STALE, provenance_lines
from fxlsp.ide.trace_view.report_index import ReportIndex
from fxlsp.ide.trace_view.runs import path_text, runs_table
from fxlsp.report.graph import Module
from fxlsp.source.text.positions import Span

_HEADING = ("child", "module", "parameters", "share", "FLOPs", "share")
_NUMBERS = frozenset(_HEADING[2:])

_OWN = "(its own)"


def modules_hover(modules: Sequence[InTrace[Module]], focus: Focus, span: Span) -> HoverText:
    """Return what the modules are, and the shapes at their uses.

    For a container, the table of its children.
    """
    stale = STALE if any(found.state.is_stale for found in modules) else ""
    headline = dotted([code(_title(modules)), *_facts(modules)]) + words(stale)
    runs = [run for found in modules for run in runs_of(found)]
    table = children_table(modules[0].index, modules[0].item.path)
    if runs and (table is None or len(modules) > 1):
        table = runs_table(runs, focus.holds)
    provenance = provenance_lines(found.state for found in modules)
    return HoverText(
        (headline, *([] if table is None else [table]), *provenance), span, comment_lines=comment_of_runs(runs)
    )


def _title(modules: Sequence[InTrace[Module]]) -> str:
    """Return class and arguments, as far as all modules have them in common."""
    titles = {_full(found) for found in modules}
    kinds = {found.item.type for found in modules}
    if len(titles) == 1:
        return titles.pop()
    return f"{kinds.pop()}(…)" if len(kinds) == 1 else f"{len(kinds)} kinds of modules"


def _full(found: InTrace[Module]) -> str:
    return f"{found.item.type}({found.item.arguments})" if found.item.arguments else found.item.type


def _facts(modules: Sequence[InTrace[Module]]) -> Iterable[RichText]:
    paths = compact_paths([path_text(found.item.path) for found in modules])
    yield words("module path ") + code(paths) if len(modules) == 1 else words("module paths ") + code(paths)
    counts = {found.item.params for found in modules}
    if len(counts) == 1 and counts != {0}:
        yield words(params_text(counts.pop()) + (" each" if len(modules) > 1 else ""))
    if not any(found.index.usage.ran(found.item) for found in modules):
        yield words("not called")
    elif len(modules) > 1:
        yield words(counted(sum(found.item.calls for found in modules), "call"))
    elif len(runs := runs_of(modules[0])) == 1:
        event = runs[0].item
        yield code(flow_text(event.inputs, event.output, modules[0].index.usual_dtype))


def children_table(index: ReportIndex, path: str) -> TextTable | None:
    """Return parameters and FLOPs of each child, with their shares of the module's in percent.

    None if there is no child.
    """
    registered = index.modules.get(path)
    if registered is None or not registered.children:
        return None
    total = index.usage.flops_below(path)
    alike: dict[tuple[str, int, int | None], list[Module]] = {}
    for child in (each.module for each in registered.children):
        alike.setdefault((_kind(index, child), child.params, index.usage.flops_below(child.path)), []).append(child)
    rows = [_row(path, facts, group, registered.module.params, total) for facts, group in alike.items()]
    return TextTable(_HEADING, (*rows, *_own_row(index, path, total)), _NUMBERS)


def _row(
    path: str, facts: tuple[str, int, int | None], group: Sequence[Module], params: int, total: int | None
) -> tuple[str, ...]:
    kind, each, flops = facts
    count = len(group)
    names = compact_paths([child.path[len(path) + 1 :] if path else child.path for child in group])
    return (
        names,
        kind if count == 1 else f"{count} × {kind}",
        *_params_with_share(each * count, params),
        *_flops_with_share(None if flops is None else flops * count, total),
    )


def _kind(index: ReportIndex, child: Module) -> str:
    return child.type if index.usage.ran(child) else f"{child.type}, not called"


def _own_row(index: ReportIndex, path: str, total: int | None) -> Iterable[tuple[str, ...]]:
    """Yield the row of the module's own operations, if these cost anything."""
    flops = index.usage.flops_in(path)
    if flops != 0:
        yield (_OWN, "", "", "", *_flops_with_share(flops, total))


def _flops_with_share(flops: int | None, total: int | None) -> tuple[str, str]:
    if flops is None:
        return "unknown", ""
    return (flops_text(flops), _share(flops, total)) if flops else ("", "")


def _params_with_share(count: int, total: int) -> tuple[str, str]:
    return (short_count(count), _share(count, total)) if count else ("", "")


def _share(part: int, whole: int | None) -> str:
    """Return ``37 %``; "" if the whole is not known."""
    if not whole:
        return ""
    percent = 100 * part / whole
    return f"{percent:.0f} %" if percent >= 1 else "< 1 %"
