"""Problems and failures from exceptions: torch's message at the user's expression."""

from __future__ import annotations

import re
from collections.abc import Callable

import torch.fx

from ....report.codes import (
    CODE_FAILS,
    COMPILED,
    CONTROL_FLOW,
    CONVERSION,
    FACTORY,
    FOREIGN_FUNCTION,
    INDEX,
    ITEM_ASSIGNMENT,
    ITERATION,
    LENGTH,
    NOT_ENTERED,
    OPERATION_FAILS,
    PROXY_KEPT,
    TRANSFORM,
    UNREGISTERED_MODULE,
    UNREGISTERED_PARAMETER,
    UNSUPPORTED,
    UNTRACEABLE,
    severity_of,
)
from ....report.graph import Node, TraceError
from ....report.locations import Location, RelatedPlace
from ....report.problems import Failure, Problem
from ...isolation.sandbox.audit import is_refused_by_system
from ...isolation.sandbox.resource_limits import reached_limit
from ..locations.code_origin import is_installed
from ..locations.source_map import SourceMap
from .misspelt import suggestion_for

_MAX_MESSAGE = 4000
"""Number of characters of an exception's message that are shown."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{6,}|(?<=0x)[0-9a-fA-F]{6,}")
_STAND_IN = re.compile(r"\b(?:torch\._subclasses\.fake_tensor\.)?FakeTensor\b")
_OWN_MODULE = re.compile(r"\b_fxlsp_tracing\.(?:[a-z_]+\.)*")
"""Names of modules of fxlsp, as the project's interpreter loads them."""


def text_of(value: object, write: Callable[[object], str] = str) -> str:
    """Return ``str`` or ``repr`` of an error or another value, or its type if that, the user's code, raises."""
    try:
        return write(value)
    except Exception:
        return f"<unprintable {type(value).__name__} object>"


def message_of(error: BaseException) -> str:
    """Return an exception's message as a traceback shows it, without its type."""
    text = readable(_shortened(text_of(error).strip()))
    if isinstance(error, KeyError):
        return f"KeyError: {text}"
    if is_refused_by_system(error):
        return f"{text} (fxlsp lets a model neither change files nor reach other programs while it traces)"
    limit = reached_limit(error)
    if limit is not None:
        return f"{text} (a trace has limits: the setting `{limit}`)"
    return f"{text}{suggestion_for(error)}" if text else type(error).__name__


def readable(text: str) -> str:
    """Return a text without addresses in memory and without names that the user's code does not have.

    An address differs in each trace, so that the same problem would be another one.

    Example:
        >>> readable("<built-in method mean of FakeTensor object at 0x7fa9588852c0>")
        '<built-in method mean of Tensor object>'
    """
    without_addresses = _ADDRESS.sub(lambda found: "" if found[0].startswith(" ") else "...", text)
    return _OWN_MODULE.sub("", _STAND_IN.sub("Tensor", without_addresses))


def _shortened(text: str) -> str:
    """Return the beginning and the end of a long text."""
    if len(text) <= _MAX_MESSAGE:
        return text
    half = _MAX_MESSAGE // 2
    return f"{text[:half]} ... ({len(text):,} characters) ... {text[-half:]}"


def failure_of_load(error: BaseException, target: str, code: str, source_map: SourceMap, what: str) -> Failure:
    """Return the failure of loading a file or building its model.

    ``what`` is the failed action for the message: ``load model.py``.
    """
    if isinstance(error, SyntaxError) and error.lineno is not None and source_map.is_shown(error.filename or ""):
        message = f"cannot {what}: {_with_type(error, error.msg)}"
        return Failure(target, code, message, _of_syntax(error), is_certain=True)
    path = source_map.of_traceback(error)
    message = f"cannot {what}: {_with_type(error, message_of(error))}"
    return Failure(target, code, message, innermost_of_workspace(path), _deeper(path))


def _with_type(error: BaseException, message: str) -> str:
    name = type(error).__name__
    return message if message.startswith(name) else f"{name}: {message}"


def _of_syntax(error: SyntaxError) -> Location:
    """Return the location of a syntax error.

    CPython gives it in code points, from 1.
    """
    line, column = error.lineno or 1, max(error.offset or 1, 1)
    end_line, end_column = error.end_lineno or line, error.end_offset or 0
    if (end_line, end_column) <= (line, column):
        end_line, end_column = line, column + 1
    return Location(error.filename or "", line, column, end_line, end_column, None)


def innermost_of_workspace(path: tuple[Location, ...]) -> Location | None:
    """Return the innermost location in the workspace, else the innermost one.

    An error inside an installed library is reported at the user's call.
    """
    own = [location for location in path if not is_installed(location.file)]
    return own[-1] if own else (path[-1] if path else None)


def _deeper(path: tuple[Location, ...]) -> tuple[RelatedPlace, ...]:
    place = innermost_of_workspace(path)
    if place is None:
        return ()
    deeper = path[len(path) - 1 - path[::-1].index(place) + 1 :]
    return tuple(RelatedPlace(f"raised in {location.function or 'here'}", location) for location in deeper)


def trace_error(error: BaseException, source_map: SourceMap) -> TraceError:
    """Return the error of the verdict, at the innermost traceback frame outside torch."""
    path = source_map.of_traceback(error)
    return TraceError(type(error).__name__, readable(text_of(error)), path[-1] if path else None)


def trace_problem(
    error: BaseException,
    source_map: SourceMap,
    module_path: str,
    model: str,
    without_frame: Callable[[BaseException], Location | None],
) -> Problem:
    """Return the problem of a trace that ``torch.fx`` ended with an error.

    ``without_frame`` returns the location of an error that passed no line of the user's code.
    """
    where = f" in module {module_path}" if module_path else ""
    error = _first_refusal(error)
    path = source_map.of_traceback(error)
    code = code_of_error(error, text_of(error))
    return Problem(
        code=code,
        severity=severity_of(code),
        message=refusal_message(error, where, code),
        location=innermost_of_workspace(path) or without_frame(error),
        related=_deeper(path),
        module_path=module_path,
        model=model,
    )


def _first_refusal(error: BaseException) -> BaseException:
    """Return the error of torch.fx that the model caught before it raised ``error``.

    If there is none, ``error`` is returned.
    """
    cause: BaseException | None = error
    while cause is not None:
        if code_of_error(cause, text_of(cause)) != UNTRACEABLE:
            return cause
        cause = cause.__context__
    return error


def mistake_problem(
    error: BaseException, source_map: SourceMap, module_path: str, model: str, headline: str
) -> Problem:
    """Return the problem of code that raises ``error`` whatever the model is given, with a headline if there is one."""
    path = source_map.of_traceback(error)
    return Problem(
        code=CODE_FAILS,
        severity=severity_of(CODE_FAILS),
        message=with_headline(headline, failure_message(error, module_path)),
        location=innermost_of_workspace(path),
        related=_deeper(path),
        module_path=module_path,
        model=model,
    )


def failure_message(error: BaseException, module_path: str) -> str:
    """Return the message of an exception that the model itself raises when it runs.

    Example: ``NameError: name 'a' is not defined (in module encoder.block)``.
    """
    where = f" (in module {module_path})" if module_path else ""
    return f"{_with_type(error, message_of(error))}{where}"


def refusal_message(error: BaseException, where: str, code: str) -> str:
    """Return the message that torch.fx cannot trace because of ``error``, a problem of ``code``.

    ``where`` is " in module a.b" or empty.
    """
    reason = _with_type(error, message_of(error))
    if isinstance(error, torch.fx.proxy.TraceError) and "cannot be iterated" in text_of(error):
        # torch goes on for a page that does not say what is iterated, nor what to do.
        reason = f"{_IS_ITERATED}\n{reason.partition('. ')[0].removesuffix('.')}"
    if isinstance(error, TypeError) and "ParameterDict cannot be used as a key" in text_of(error):
        # torch's own text asks to open an issue.
        reason = _with_type(error, _KEY_IS_TRACED)
    factory = _FACTORY_OF_TRACED.match(text_of(error))
    if isinstance(error, TypeError) and factory is not None:
        # torch counts a traced value as no size, and then blames the number of arguments, which is right.
        reason = f"{_SIZE_IS_TRACED.format(factory[1])}\n{reason}"
    if isinstance(error, TypeError) and "__cuda_array_interface__" in text_of(error):
        reason = f"{_NO_DATA}\n{reason}"
    elif code == FACTORY and text_of(error).startswith("'len' is not supported"):
        # torch asks for the length of the value that is to become a tensor, which the code does not.
        reason = _NO_DATA
    return f"torch.fx cannot trace this{where}: {reason}"


def operation_problem(
    error: BaseException,
    node: Node,
    headline: str,
    operands: str,
    model: str,
    location: Location | None,
    related: tuple[RelatedPlace, ...],
) -> Problem:
    """Return the problem of an operation of the graph that raises when it runs.

    The message starts with the headline, which says what does not fit what, if that is known. Torch's reason follows,
    with the operands at the end, because editors may truncate the rest.
    """
    where = f" in module {node.module_path}" if node.module_path else ""
    what = f"{node.module_type}({node.module_arguments})" if node.op == "call_module" else node.target
    return Problem(
        code=OPERATION_FAILS,
        severity="error",
        message=with_headline(
            headline, f"{message_of(error)} ({type(error).__name__} of {what}{where}, given {operands})"
        ),
        location=location,
        related=related,
        module_path=node.module_path,
        model=model,
    )


def with_headline(headline: str, message: str) -> str:
    """Return a message with a headline on a line above it, if there is one."""
    return f"{headline}\n{message}" if headline else message


_IS_ITERATED = "the items of a traced value are taken one by one, and how many it has is known only when the model runs"
_KEY_IS_TRACED = "the key of a ParameterDict is a traced value here, and only a string finds a parameter"
_SIZE_IS_TRACED = "a size that torch.{} is given is a traced value here, and it takes numbers alone as sizes"
_FACTORY_OF_TRACED = re.compile(
    r"(ones|zeros|empty|rand|randn)\(\) (takes \d+ positional argument|received an invalid .*got \((Proxy|Attribute))"
)
"""The second form is that of torch before 2.7."""
_NO_DATA = "a tensor is made here from a traced value, which has no data"
"""What torch means that takes a proxy for an array, because it has each attribute that is asked for."""
_KINDS: tuple[tuple[type[BaseException], str, str], ...] = (
    # First, because the message about iteration ends with a hint to the documentation of control flow.
    (torch.fx.proxy.TraceError, r"cannot be iterated", ITERATION),
    (torch.fx.proxy.TraceError, r"inputs to control flow", CONTROL_FLOW),
    (RuntimeError, r"^'len' is not supported in symbolic tracing", LENGTH),
    (NameError, r"^module is not installed as a submodule$", UNREGISTERED_MODULE),
    (NameError, r"^parameter is not a member of this module$", UNREGISTERED_PARAMETER),
    (TypeError, r"^(int|float|complex)\(\) .*(Proxy|Attribute)|__(round|trunc|floor|ceil)__ method", CONVERSION),
    (TypeError, r"(Proxy|Attribute)' object cannot be interpreted as an integer", INDEX),
    (TypeError, r"indices must be integers|slice indices must be", INDEX),
    (KeyError, r"(Proxy|Attribute)\(", INDEX),
    (TypeError, r"cannot be used as a key as it is not a string \(type is '(Proxy|\w*Attribute|ValueProxy)'", INDEX),
    (TypeError, r"(Proxy|Attribute)' object does(n't| not) support item (assignment|deletion)", ITEM_ASSIGNMENT),
    (TypeError, r"takes \d+ positional arguments? but \d+ were given$", FACTORY),
    (TypeError, r"received an invalid combination of arguments.*(Proxy|Attribute)", FACTORY),
    (TypeError, r"argument '\w+' .*must be .*(not|of type|but got) (Proxy|Attribute)", FACTORY),
    (TypeError, r"^Variable data has to be a tensor", FACTORY),
    (TypeError, r"__cuda_array_interface__|torch\.Size\(\) takes an iterable", FACTORY),
    (ValueError, r"__array_struct__|__array_interface__", FOREIGN_FUNCTION),
    (TypeError, r"descriptor '.*doesn't apply to a '(Proxy|Attribute)' object", FOREIGN_FUNCTION),
    (RuntimeError, r"^Tensor type unknown to einops", FOREIGN_FUNCTION),
    (RuntimeError, r"\(\) Expected a value of type|dynamo-optimized function", COMPILED),
    (ValueError, r"^(vmap|grad|jvp|vjp|hessian|jac\w+)\(", TRANSFORM),
    (Exception, r"passed to transform API|HigherOrderOperator|Expected pred to be bool", TRANSFORM),
    (NotImplementedError, r"^argument of type: ", UNSUPPORTED),
    (RuntimeError, r"^Keys for dictionaries used as an argument", UNSUPPORTED),
    # "co_varnames" since Python 3.11.
    (ValueError, r"varnames is too small$", NOT_ENTERED),
    (RuntimeError, r"argument cannot be part of \*args expansion", NOT_ENTERED),
    (NotImplementedError, r'missing the required "forward" function', NOT_ENTERED),
    # The root is a scripted module.
    (AssertionError, r"^traced_func_name=\w+ doesn't exist in ", NOT_ENTERED),
    # Newer versions of torch store the proxy, and it is found in the buffer afterwards.
    (TypeError, r"^cannot assign .*(Proxy|Attribute)\(.* as buffer", PROXY_KEPT),
)


def code_of_error(error: BaseException, message: str) -> str:
    """Return the problem code of an exception that ended a trace.

    ``message`` is the text of the exception. The table was derived from torch 2.6, 2.13 and 2.15 and CPython 3.10 to
    3.13.
    """
    for kind, pattern, code in _KINDS:
        if isinstance(error, kind) and re.search(pattern, message, re.DOTALL):
            return code
    return UNTRACEABLE
