"""What torch.export and torch.compile decide while they follow a model: sizes that they fix, and ends of graphs.

Run with torch 2.14 and 2.6.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from traceback import FrameSummary
from typing import Any

import torch

NoteFixedSize = Callable[[], None]
NoteGraphBreak = Callable[[str, Sequence[FrameSummary]], None]
Backend = Callable[[torch.fx.GraphModule, Sequence[Any]], Callable[..., Any]]
"""Makes of a graph and its example inputs what is called in its place."""


class MissingPartError(Exception):
    """This torch lacks what a verdict needs; the message is what."""


@contextmanager
def fixed_sizes_noted(note: NoteFixedSize) -> Iterator[None]:
    """Call ``note`` as soon as torch.export fixes a size of an input that was to be dynamic.

    The code that fixes it is running then. Fallback: it is never called, so that what fixes a size seems to limit it.
    """
    from torch.fx.experimental import symbolic_shapes

    sizes: Any = symbolic_shapes.ShapeEnv
    replace = getattr(sizes, "_set_replacement", None)
    if replace is None:
        yield
        return

    def set_replacement(self: Any, symbol: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        result = replace(self, symbol, target, *args, **kwargs)
        # The names of sizes that depend on data begin with a u; torch leaves some replacements out.
        is_fixed = getattr(self.replacements.get(symbol), "is_Integer", False)
        if is_fixed and str(symbol).startswith("s"):
            note()
        return result

    sizes._set_replacement = set_replacement
    try:
        yield
    finally:
        sizes._set_replacement = replace


def is_constraint_violation(error: BaseException) -> bool:
    """Return whether torch.export refuses a model since it does not take every size that was to be dynamic."""
    kind = getattr(getattr(error, "error_type", None), "name", "")
    return kind == "CONSTRAINT_VIOLATION" or type(error).__name__ == "ConstraintViolationError"


@contextmanager
def compiled_by(backend: Backend) -> Iterator[None]:
    """Let one backend compile whatever ``torch.compile`` is asked for, also by the user's own calls of it.

    Their backend would compile for the machine, with programs that a contained process must not start. What calls
    ``torch._dynamo.optimize`` itself is left alone. Fallback: a kind of call that this torch lacks is none to replace.
    """

    def compile_graph(self: Any, graph: Any, inputs: Any, **options: Any) -> Any:
        return backend(graph, inputs)

    names = ("_TorchCompileInductorWrapper", "_TorchCompileAOTInductorWrapper", "_TorchCompileWrapper")
    found = [getattr(torch, name) for name in names if hasattr(torch, name)]
    before = [kind.__call__ for kind in found]
    for kind in found:
        kind.__call__ = compile_graph
    try:
        yield
    finally:
        for kind, call in zip(found, before, strict=True):
            kind.__call__ = call


@contextmanager
def graph_breaks_noted(note: NoteGraphBreak) -> Iterator[None]:
    """Call ``note`` with the reason and the user's frames, outermost first, wherever torch.compile ends a graph.

    Those are the places where it goes on with another graph, which it logs, and those for which it leaves a whole
    function uncompiled, which it handles as an error. The same place may be noted more than once.

    Raises:
        MissingPartError: this torch does not run torch.compile here, or has no such places: there is no fallback, since
            a graph break would pass unseen.
    """
    try:
        from torch._dynamo import config, convert_frame, eval_frame, exc, symbolic_convert

        if config.disable or os.environ.get("TORCHDYNAMO_DISABLE") == "1":
            raise MissingPartError("torch.compile is disabled by TORCH_COMPILE_DISABLE or TORCHDYNAMO_DISABLE")
        eval_frame.check_if_dynamo_supported()
        converter: Any = convert_frame.ConvertFrameAssert
        # A method in newer versions, a function in older ones.
        is_function = hasattr(symbolic_convert, "log_graph_break")
        owner: Any = symbolic_convert if is_function else symbolic_convert.InstructionTranslatorBase
        log, convert = owner.log_graph_break, converter.__call__
    except (ImportError, AttributeError, RuntimeError) as error:
        raise MissingPartError(str(error)) from error

    def log_graph_break(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        # Older versions log it where they have caught it, with a reason that differs from the error's.
        error = next((each for each in given if isinstance(each, BaseException)), sys.exc_info()[1])
        reason = kwargs.get("reason") or next((each for each in given if isinstance(each, str)), "")
        stack = kwargs.get("user_stack") or getattr(error, "real_stack", None)
        note(reason if error is None else _message(error), stack or torch._guards.TracingContext.extract_stack())
        return log(*args, **kwargs)

    def convert_noting(*args: Any, **kwargs: Any) -> Any:
        try:
            return convert(*args, **kwargs)
        except (exc.Unsupported, exc.UserError) as error:
            note(_message(error), getattr(error, "real_stack", None) or ())
            raise

    owner.log_graph_break, converter.__call__ = log_graph_break, convert_noting
    try:
        # Where errors are suppressed, what torch.compile cannot follow runs uncompiled without a word.
        with config.patch(suppress_errors=False):
            yield
    finally:
        owner.log_graph_break, converter.__call__ = log, convert


def _message(error: BaseException) -> str:
    """Return torch's words without what it appends to them on the way out."""
    return str(getattr(error, "msg", None) or error)
