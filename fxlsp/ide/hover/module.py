"""What a hover says about modules: where they are made, and where an attribute that holds them stands uncalled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fxlsp.ide.hover.comment_text import gist_of_runs
from fxlsp.ide.hover.module_tables import children_table
from fxlsp.ide.hover.text import HoverText
from fxlsp.ide.render.numbers import counted, params_text
from fxlsp.ide.render.path_patterns import braced
from fxlsp.ide.render.rich_text import RichText, code, dotted, words
from fxlsp.ide.render.shapes import flow_text
from fxlsp.ide.trace_view.focus import Focus
from fxlsp.ide.trace_view.modules import Found
from fxlsp.ide.trace_view.provenance import STALE, is_stale, origins_of
from fxlsp.ide.trace_view.runs import path_text, runs_table
from fxlsp.source.text.positions import Span


def modules_hover(modules: Sequence[Found], focus: Focus, span: Span) -> HoverText:
    """What the modules are, and where they are used with which shapes; of a container what it consists of."""
    stale = STALE if any(is_stale(found.state) for found in modules) else ""
    headline = dotted([code(_title(modules)), *_facts(modules)]) + words(stale)
    runs = [run for found in modules for run in found.runs]
    table = children_table(modules[0].index, modules[0].module.path)
    if runs and (table is None or len(modules) > 1):
        table = runs_table(runs, focus.holds)
    origins = origins_of(found.state for found in modules)
    return HoverText((headline, *([] if table is None else [table]), *origins), span, gist=gist_of_runs(runs))


def _title(modules: Sequence[Found]) -> str:
    """Class and arguments, as far as all have them in common."""
    titles = {_full(found) for found in modules}
    kinds = {found.module.type for found in modules}
    if len(titles) == 1:
        return titles.pop()
    return f"{kinds.pop()}(…)" if len(kinds) == 1 else f"{len(kinds)} kinds of modules"


def _full(found: Found) -> str:
    return f"{found.module.type}({found.module.arguments})" if found.module.arguments else found.module.type


def _facts(modules: Sequence[Found]) -> Iterable[RichText]:
    paths = braced([path_text(found.module.path) for found in modules])
    yield words("module path ") + code(paths) if len(modules) == 1 else words("module paths ") + code(paths)
    counts = {found.module.params for found in modules}
    if len(counts) == 1 and counts != {0}:
        yield words(params_text(counts.pop()) + (" each" if len(modules) > 1 else ""))
    if not any(found.index.use.ran(found.module) for found in modules):
        yield words("not called")
    elif len(modules) > 1:
        yield words(counted(sum(found.module.calls for found in modules), "call"))
    elif len(modules[0].runs) == 1:
        event = modules[0].runs[0].event
        yield code(flow_text(event.inputs, event.output, modules[0].index.usual_dtype))
