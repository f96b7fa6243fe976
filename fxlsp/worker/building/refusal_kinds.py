"""The kinds of torch.fx's failures, told from the exceptions that it and Python raise.

Seen with torch 2.6, 2.13 and 2.15, CPython 3.10 to 3.13.
"""

from __future__ import annotations

import re

import torch.fx

from ...report.codes import (
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
    PROXY_KEPT,
    TRANSFORM,
    UNREGISTERED_MODULE,
    UNREGISTERED_PARAMETER,
    UNSUPPORTED,
    UNTRACEABLE,
)

_KINDS: tuple[tuple[type[BaseException], str, str], ...] = (
    # The message about iteration ends with a hint to what the documentation says about control flow: it comes first.
    (torch.fx.proxy.TraceError, r"cannot be iterated", ITERATION),
    (torch.fx.proxy.TraceError, r"inputs to control flow", CONTROL_FLOW),
    (RuntimeError, r"^'len' is not supported in symbolic tracing", LENGTH),
    (NameError, r"^module is not installed as a submodule$", UNREGISTERED_MODULE),
    (NameError, r"^parameter is not a member of this module$", UNREGISTERED_PARAMETER),
    (TypeError, r"^(int|float|complex)\(\) .*(Proxy|Attribute)|__(round|trunc|floor|ceil)__ method", CONVERSION),
    (TypeError, r"(Proxy|Attribute)' object cannot be interpreted as an integer", INDEX),
    (TypeError, r"indices must be integers|slice indices must be", INDEX),
    (KeyError, r"(Proxy|Attribute)\(", INDEX),
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
    # Newer versions of torch keep the proxy, which is found there afterwards.
    (TypeError, r"^cannot assign .*(Proxy|Attribute)\(.* as buffer", PROXY_KEPT),
)


def code_of_error(error: BaseException, message: str) -> str:
    """The code of what ended a trace; ``message`` is the exception's text."""
    for kind, pattern, code in _KINDS:
        if isinstance(error, kind) and re.search(pattern, message, re.DOTALL):
            return code
    return UNTRACEABLE
