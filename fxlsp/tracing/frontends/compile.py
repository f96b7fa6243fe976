"""Verdict of torch.compile: where it ends a graph, in a run with a backend that compiles nothing.

The model is compiled and called once, as a user calls it; parts that its own code compiles count as its graphs too.
``torch._dynamo.explain`` is not asked: it does not count the functions that are left uncompiled as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ...report.frontend_codes import BREAK_AT_CODE, BREAK_AT_VALUE, COMPILE_FAILS
from ...report.frontends import FrontendProblem, FrontendVerdict
from ..isolation.torch_private.export_and_compile import GraphBreak, MissingPartError, compiled_by, graph_breaks_noted
from ..model.locations.source_map import SourceMap
from .model_call import ModelCall, not_available, place_in_stack, problem_of, problem_of_error


def compile_verdict(call: ModelCall, source_map: SourceMap) -> FrontendVerdict:
    """Return what torch.compile makes of a model, which must not have been called before."""
    graphs = 0
    breaks: dict[object, FrontendProblem] = {}

    def note(ended: GraphBreak) -> None:
        code = BREAK_AT_VALUE if ended.is_at_value else BREAK_AT_CODE
        found = problem_of(ended.reason, place_in_stack(ended.stack, source_map), code)
        # A function is followed inside its caller, and once more by itself where its caller is left uncompiled.
        # torch may word the same break in two ways then.
        breaks.setdefault(found.location or found.headline, found)

    def run_as_it_is(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        nonlocal graphs
        graphs += 1
        return graph.forward

    try:
        with graph_breaks_noted(note), compiled_by(run_as_it_is):
            compiled: Callable[..., Any] = torch.compile(call.model, backend=run_as_it_is)
            compiled(*call.args, **call.kwargs)
    except MissingPartError as missing:
        return not_available("compile", str(missing))
    except BaseException as error:
        # SystemExit and KeyboardInterrupt included: the user's code raised them.
        failing = problem_of_error(error, COMPILE_FAILS, source_map)
        breaks.pop(failing.location, None)
        summary = " and then ".join([*([_counted(len(breaks))] if breaks else []), "1 problem"])
        return FrontendVerdict("compile", "problem", summary, (*breaks.values(), failing))
    if breaks:
        return FrontendVerdict("compile", "problem", _counted(len(breaks)), tuple(breaks.values()))
    return FrontendVerdict("compile", "ok", _compiled(graphs))


def _counted(breaks: int) -> str:
    return f"{breaks} graph break{'s' if breaks > 1 else ''}"


def _compiled(graphs: int) -> str:
    if graphs > 1:
        return f"compiles as {graphs} graphs"
    return "compiles as one graph" if graphs else "has nothing to compile"
