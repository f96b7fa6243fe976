"""What a module consists of: a row for the modules right below it, those that are alike on one, with their share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fxlsp.ide.render.numbers import flops_text, short_count
from fxlsp.ide.render.path_patterns import braced
from fxlsp.ide.render.tables import Table
from fxlsp.ide.trace_view.report_index import TraceIndex
from fxlsp.report.graph import Module

_HEADING = ("child", "module", "parameters", "", "FLOPs", "")
_OWN = "(its own)"


def children_table(index: TraceIndex, path: str) -> Table | None:
    """Parameters and FLOPs of each child, with their shares in percent; None where there is no child."""
    registered = index.modules.get(path)
    if registered is None or not registered.children:
        return None
    total = index.use.flops_below(path)
    alike: dict[tuple[str, int, int | None], list[Module]] = {}
    for child in (each.module for each in registered.children):
        alike.setdefault((_kind(index, child), child.params, index.use.flops_below(child.path)), []).append(child)
    rows = [_row(path, facts, group, registered.module.params, total) for facts, group in alike.items()]
    return Table(_HEADING, (*rows, *_own_row(index, path, total)))


def _row(
    path: str, facts: tuple[str, int, int | None], group: Sequence[Module], params: int, total: int | None
) -> tuple[str, ...]:
    kind, each, flops = facts
    count = len(group)
    names = braced([child.path[len(path) + 1 :] if path else child.path for child in group])
    return (
        names,
        kind if count == 1 else f"{count} × {kind}",
        *_params_with_share(each * count, params),
        *_flops_with_share(None if flops is None else flops * count, total),
    )


def _kind(index: TraceIndex, child: Module) -> str:
    return child.type if index.use.ran(child) else f"{child.type}, not called"


def _own_row(index: TraceIndex, path: str, total: int | None) -> Iterable[tuple[str, ...]]:
    """What the module does itself, if that costs anything."""
    flops = index.use.flops_in(path)
    if flops != 0:
        yield (_OWN, "", "", "", *_flops_with_share(flops, total))


def _flops_with_share(flops: int | None, total: int | None) -> tuple[str, str]:
    if flops is None:
        return "unknown", ""
    return (flops_text(flops), _share(flops, total)) if flops else ("", "")


def _params_with_share(count: int, total: int) -> tuple[str, str]:
    return (short_count(count), _share(count, total)) if count else ("", "")


def _share(part: int, whole: int | None) -> str:
    """``37 %``; nothing where the whole is not known."""
    if not whole:
        return ""
    percent = 100 * part / whole
    return f"{percent:.0f} %" if percent >= 1 else "< 1 %"
