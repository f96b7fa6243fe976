"""What torch.export and torch.compile decide while they follow a model: sizes that they fix, and ends of graphs.

Run with torch 2.14 and 2.6.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from traceback import FrameSummary
from typing import Any, Literal, NamedTuple

import torch

from ..replacement import replaced

NoteFixedSize = Callable[[], None]
Backend = Callable[[torch.fx.GraphModule, Sequence[Any]], Callable[..., Any]]
"""Makes of a graph and its example inputs what is called in its place."""


class GraphBreak(NamedTuple):
    """End of a graph of torch.compile."""

    reason: str
    stack: Sequence[FrameSummary]
    """The user's frames, outermost first."""
    is_at_value: bool
    """Whether Python needs the value of a tensor there."""


NoteGraphBreak = Callable[[GraphBreak], None]
Refusal = Literal["value", "form"]
"""What torch.export refuses: the value of a tensor, something that it has no form for."""

_OF_VALUES = ("GuardOnDataDependentSymNode", "DataDependentOutputException", "DynamicOutputShapeException")
_OF_FORMS = (
    "Unsupported",
    "UnsupportedOperatorException",
    "UnsupportedFakeTensorException",
    "UnsupportedMutationAliasingException",
    "UncapturedHigherOrderOpError",
    "SpecViolationError",
    "UserError",
)
_WITHOUT_FORM = (
    (ValueError, re.compile(r"Unsupported input type")),
    (ValueError, re.compile(r"The tensor attributes? .* (was|were) assigned during export")),
    (RuntimeError, re.compile(r"Found .* in output, which is not a known type")),
    (RuntimeError, re.compile(r"\.numpy\(\) is not supported for tensor subclasses")),
    (NotImplementedError, re.compile(r"Could not run '|There were no tensor arguments|Cannot copy out of meta tensor")),
)
"""Errors of common classes with which torch.export refuses a form, by the begin of their messages.

The second is that of torch 2.6, and a warning in 2.14; the others are in both.
"""
_VALUE_REASON = re.compile(
    r"[Dd]ata[- ]dependent|[Dd]ynamic (shape operator|control flow|slicing)|Tensor\.(item|tolist)\b|for tolist\b"
    r"|index\(Tensor\)|Indexing (list|torch\.Size) with non-scalar|generic_jump"
    r"|Could not (guard on|extract specialized)"
)
"""Words about the value of a tensor in the first line of a reason, of torch 2.6 to 2.14."""
_WRAPPED = "Got graph break/error:"
"""What a higher-order operator puts before the reason for which torch.compile cannot follow a part of it."""
_OF_TORCH_ITSELF = re.compile(
    r"^\s*(User Stack|Caused by: \(|from user code|The following call raised|The error above occurred|For more|"
    r"For C\+\+|Developer debug context|File \")",
    re.MULTILINE,
)
"""Begin of what concerns torch itself in a message."""
_REPAIR = re.compile(r"^To fix the error, .*(?:\n.*\S.*)*", re.MULTILINE)
"""What torch proposes to write, which it appends behind its stacks."""
_TORCH = os.path.join(os.path.dirname(torch.__file__), "")
_OF_OPERATIONS = (
    *("_decomp", "_dynamo", "_export", "_functorch", "_higher_order_ops", "_library", "_meta_registrations.py"),
    *("_ops.py", "_prims", "_prims_common", "_refs", "_subclasses", "export", "fx"),
)
"""Files and folders of torch that implement operations or follow them, of torch 2.6 and 2.14."""


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

    with replaced(sizes, _set_replacement=set_replacement):
        yield


def is_constraint_violation(error: BaseException) -> bool:
    """Return whether torch.export refuses a model since it does not take every size that was to be dynamic."""
    return _kind_of(error) == "CONSTRAINT_VIOLATION" or _is_of_torch(error, ("ConstraintViolationError",))


def refusal_of(errors: Iterable[BaseException]) -> Refusal | None:
    """Return for what torch.export refuses a model, with sizes that are all fixed; None if it is no refusal.

    A value is found wherever it is: for one that a part of a higher-order operator asks for, torch raises other errors.
    Errors are known by the names of their classes, which are the same from torch 2.6 to 2.14, else by their messages.
    Fallback: None.

    Args:
        errors: an error and those that it was raised for.
    """
    refusals = [_refusal_of(each) for each in errors]
    return "value" if "value" in refusals else next((each for each in refusals if each is not None), None)


def _refusal_of(error: BaseException) -> Refusal | None:
    if _is_of_torch(error, _OF_VALUES) or _kind_of(error) == "DYNAMIC_CONTROL_FLOW":
        return "value"
    if _is_of_torch(error, _OF_FORMS):
        message = _message(error)
        if is_about_value(message.partition(_WRAPPED)[2] or message):
            return "value"
        return None if is_constraint_violation(error) else "form"
    # The text of a class of the user's, or of an argument, may be the user's code.
    is_plain = all(type(each) is str for each in error.args)
    has_no_form = any(type(error) is kind and is_plain and begin.match(str(error)) for kind, begin in _WITHOUT_FORM)
    is_of_operations = isinstance(error, NotImplementedError) and _is_raised_by_operations(error)
    return "form" if has_no_form or is_of_operations else None


def _is_of_torch(error: BaseException, names: Sequence[str]) -> bool:
    kind = type(error)
    return kind.__name__ in names and kind.__module__.startswith("torch.")


def _kind_of(error: BaseException) -> str:
    """Return the kind of an error of a user that torch.export or torch.compile reports; empty for others."""
    return str(getattr(getattr(error, "error_type", None), "name", "")) if _is_of_torch(error, ("UserError",)) else ""


def _is_raised_by_operations(error: BaseException) -> bool:
    """Return whether torch raised an error where it implements or follows operations.

    Not in a layer, a distribution or another class of which the user's class is one: there the model itself raises.
    """
    raised = error.__traceback__
    while raised is not None and raised.tb_next is not None:
        raised = raised.tb_next
    path = "" if raised is None else raised.tb_frame.f_code.co_filename
    return path.startswith(_TORCH) and path[len(_TORCH) :].split(os.sep)[0] in _OF_OPERATIONS


def is_about_value(reason: str) -> bool:
    """Return whether the first line of torch's reason for a graph break is about the value of a tensor."""
    first = next((line for line in reason.splitlines() if line.strip()), "")
    return _VALUE_REASON.search(first) is not None


def without_stacks(message: str) -> str:
    """Return torch's words in a message, with what it proposes to write, without its own stacks and context.

    Checked on the messages of torch 2.14. Fallback: the message as it is.
    """
    behind = _OF_TORCH_ITSELF.search(message)
    if behind is None:
        return message
    repair = _REPAIR.search(message, behind.start())
    parts = [message[: behind.start()].rstrip(), "" if repair is None else repair[0]]
    return "\n\n".join(part for part in parts if part) or message


@contextmanager
def compiled_by(backend: Backend) -> Iterator[None]:
    """Let one backend compile whatever ``torch.compile`` is asked for, also by the user's own calls of it.

    Their backend would compile for the machine, with programs that a contained process must not start. What calls
    ``torch._dynamo.optimize`` itself is left alone. Fallback: a kind of call that this torch lacks is none to replace.
    """

    def compile_graph(self: Any, graph: Any, inputs: Any, **options: Any) -> Any:
        return backend(graph, inputs)

    names = ("_TorchCompileInductorWrapper", "_TorchCompileAOTInductorWrapper", "_TorchCompileWrapper")
    with ExitStack() as stack:
        for kind in (getattr(torch, name) for name in names if hasattr(torch, name)):
            stack.enter_context(replaced(kind, __call__=compile_graph))
        yield


@contextmanager
def graph_breaks_noted(note: NoteGraphBreak) -> Iterator[None]:
    """Call ``note`` wherever torch.compile ends a graph.

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
        note(_graph_break(error, reason, stack or torch._guards.TracingContext.extract_stack()))
        return log(*args, **kwargs)

    def convert_noting(*args: Any, **kwargs: Any) -> Any:
        try:
            return convert(*args, **kwargs)
        except (exc.Unsupported, exc.UserError) as error:
            note(_graph_break(error, "", getattr(error, "real_stack", None) or ()))
            raise

    # Where errors are suppressed, what torch.compile cannot follow runs uncompiled without a word.
    noting = (replaced(owner, log_graph_break=log_graph_break), replaced(converter, __call__=convert_noting))
    with noting[0], noting[1], config.patch(suppress_errors=False):
        yield


def _graph_break(error: BaseException | None, reason: str, stack: Sequence[FrameSummary]) -> GraphBreak:
    """Return a graph break in the words of its error, else with another reason.

    Of a break in a loop torch 2.14 gives the reason by the cause of its error alone.
    """
    if error is None:
        return GraphBreak(reason, stack, is_about_value(reason))
    cause = error.__cause__
    causes = [error] if cause is None or not type(cause).__module__.startswith("torch.") else [error, cause]
    return GraphBreak(_message(error), stack, any(is_about_value(_message(each)) for each in causes))


def _message(error: BaseException) -> str:
    """Return torch's words without what it appends to them on the way out."""
    return str(getattr(error, "msg", None) or error)
