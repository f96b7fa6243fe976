"""Calls of torch's own functions and layers that their signatures do not allow, whatever the model is given.

``torch.softmax(x)`` lacks an argument; ``nn.Conv2d(3, 8, kernel=3)`` and ``F.normalize(x, axis=1)`` have one that is no
argument there. A method of the same name may be that of an object of the user's, ``cloud.flip()``, if it is called on
anything but a computed tensor.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, ModuleType, TracebackType
from typing import Any

import torch

from ..locations.class_text import code_of, codes_within, local_names, tree_of
from ..locations.code_origin import is_torch
from ..locations.computed_tensors import ComputedTensors, calls_at, entries_of, is_of_tensors_alone
from .failures import text_of

_OF_FUNCTION = re.compile(r'(\w+)\(\) missing \d+ required positional arguments?: "')
"""What torch says about a call of one of its functions. Python has other quotes."""
_UNEXPECTED = re.compile(r"_?(\w+?)(\.__init__)?\(\) got an unexpected keyword argument '\w+'")
"""What Python and torch say about a keyword that a constructor or function does not have. Some functions of torch only
choose another one, whose name begins with an underscore."""


_OF_PARSER = re.compile(
    r"(\w+)\(\) (?:missing \d+ required positional arguments?: \"|got an unexpected keyword argument ')"
)
"""What torch says about a call that lacks an argument, or has another, whatever the values of the others are."""
_OF_VALUES = re.compile(r"(\w+)\(\) (?:takes \d|takes from \d|received an invalid combination of arguments)")
"""What torch says about a call that none of the signatures of a method takes, because of the values or their number."""
_OF_METHOD = re.compile(r"Tensor(?:Base)?\.(\w+)\(\) (?:missing \d|takes |got an unexpected|got multiple values)")
"""What Python says about a call of a method that has one signature."""


def is_wrong_call_of_torch(error: TypeError, raised: TracebackType) -> bool:
    """Return whether a function, method or layer of torch is called in a way that it never takes.

    A function and a layer by their names in torch, a method of a tensor that is computed.

    Args:
        error: The exception.
        raised: The entry of its traceback for the code of the user that raised it.
    """
    text = text_of(error)
    if _is_wrong_call_of_method(text, error, raised):
        return True
    of_function, unexpected = _OF_FUNCTION.match(text), _UNEXPECTED.match(text)
    if of_function is not None:
        return _is_each(of_function[1], raised, lambda called: isinstance(called, BuiltinFunctionType))
    if unexpected is None or not _is_raised_at_once(raised):
        return False
    name, is_constructor = unexpected.groups()
    return _is_each(name, raised, _is_layer if is_constructor else _is_function)


def _is_wrong_call_of_method(text: str, error: TypeError, raised: TracebackType) -> bool:
    """Return whether each call of a method's name at the line that raised is one that no tensor takes."""
    by_values = _OF_VALUES.match(text)
    found = by_values or _OF_PARSER.match(text) or _OF_METHOD.match(text)
    if found is None or not _is_raised_at_once(raised) or not is_of_tensors_alone(found[1], _tree(raised)):
        return False
    entries, calls = entries_of(error), list(_calls(found[1], raised))
    if not entries or entries[-1].frame is not raised.tb_frame:
        return False
    return bool(calls) and all(
        isinstance(each.func, ast.Attribute)
        and _is_written_out(each)
        and (by_values is None or all(map(_is_literal, (*each.args, *(keyword.value for keyword in each.keywords)))))
        and ComputedTensors(entries).has(each.func.value, len(entries) - 1)
        for each in calls
    )


def _is_literal(value: ast.expr) -> bool:
    """Return whether a value is written out, so that it is no guessed one."""
    return not any(isinstance(each, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) for each in ast.walk(value))


def _is_raised_at_once(raised: TracebackType) -> bool:
    """Return whether nothing but torch's choice of a function came between a call and its refusal."""
    behind = raised.tb_next
    return behind is None or (behind.tb_next is None and is_torch(behind.tb_frame.f_code.co_filename))


def _is_each(name: str, raised: TracebackType, is_of_torch: Callable[[Any], bool]) -> bool:
    """Return whether each call of a name at the line that raised is one of torch, with its arguments written out."""
    calls = list(_calls(name, raised))
    return bool(calls) and all(_is_written_out(each) and is_of_torch(_named_by(each.func, raised)) for each in calls)


def _calls(name: str, raised: TracebackType) -> Iterator[ast.Call]:
    """Yield the calls of a name at the line that raised: ``name(...)`` or ``torch.nn.name(...)``."""
    for node in calls_at(_tree(raised), raised.tb_lineno):
        if name == getattr(node.func, "attr", getattr(node.func, "id", None)):
            yield node


def _tree(raised: TracebackType) -> ast.Module:
    return tree_of(raised.tb_frame.f_code.co_filename)


def _is_written_out(call: ast.Call) -> bool:
    """Return whether a call passes on no ``*args`` and ``**kwargs``."""
    return not any(isinstance(each, ast.Starred) for each in call.args) and all(each.arg for each in call.keywords)


def _named_by(called: ast.expr, raised: TracebackType) -> Any:
    """Return what a global name, or an attribute of a module, is bound to; None for anything else."""
    match called:
        case ast.Name(id=name):
            is_local = any(name in local_names(code) for code in codes_within(raised.tb_frame.f_code))
            return None if is_local else raised.tb_frame.f_globals.get(name)
        case ast.Attribute(value=value, attr=name):
            owner = _named_by(value, raised)
            return getattr(owner, name, None) if isinstance(owner, ModuleType) else None
    return None


def _is_function(called: Any) -> bool:
    if isinstance(called, BuiltinFunctionType):
        return True
    code = code_of(called) if inspect.isfunction(called) else None
    return code is not None and is_torch(code.co_filename)


def _is_layer(called: Any) -> bool:
    if not inspect.isclass(called) or not issubclass(called, torch.nn.Module):
        return False
    code = code_of(called.__init__)
    return code is not None and is_torch(code.co_filename)
