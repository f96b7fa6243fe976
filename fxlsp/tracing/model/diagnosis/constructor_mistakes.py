"""Mistakes in a constructor because of which there is no model, in words of PyTorch.

``super().__init__()`` is missing or comes too late (FX605), or a local variable was meant as an attribute (FX604).
"""

from __future__ import annotations

import ast
import inspect
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from traceback import walk_tb
from types import CodeType, FrameType
from typing import Any

import torch

from ....report.codes import LOCAL_INSTEAD_OF_ATTRIBUTE, NOT_INITIALISED
from ....report.locations import RelatedPlace
from ....report.problems import Failure
from ..locations.class_text import Method, code_of, methods_of
from ..locations.source_map import SourceMap
from .failures import text_of
from .local_variables import meant_attributes

_ABSTRACT = re.compile(
    r"Can't instantiate abstract class (\w+) with(?:out an implementation for)? abstract methods? (.+)"
)
"""What Python says, in the words of 3.10 and of 3.12."""


_REFUSALS = (AssertionError, AttributeError, KeyError, TypeError, ValueError)
_NN = os.path.join(os.path.dirname(torch.nn.__file__), "")


def constructor_mistake(failure: Failure, error: BaseException, source_map: SourceMap) -> Failure:
    """Return the failure of a construction by ``error``, with a mistake named as what it is.

    An abstract class is no mistake: what it needs is a subclass. Any other failure is returned unchanged.
    """
    abstract = _ABSTRACT.match(text_of(error)) if isinstance(error, TypeError) else None
    if abstract is not None and failure.target.rpartition(":")[2].rpartition(".")[2] == abstract[1]:
        methods = abstract[2].replace("'", "")
        message = f"{abstract[1]} is abstract: a subclass has to define {methods}"
        return replace(failure, message=message, needs=f"a subclass that defines {methods}")
    if not isinstance(error, AttributeError):
        return failure
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    for frame in frames:
        module = frame.f_locals.get("self")
        if frame.f_code in _MODULE_CODE and isinstance(module, torch.nn.Module) and not _is_initialised(module):
            codes = [each.f_code for each in frames if _is_constructor_of(each.f_code, each.f_locals, module)]
            return _not_initialised(failure, type(module), codes[-1] if codes else None, source_map)
    if frames and frames[-1].f_code is _GETATTR:
        return _local_variable(failure, frames[-1].f_locals, source_map)
    return failure


def is_refused_by_layer(error: BaseException) -> bool:
    """Return whether torch.nn refuses what a constructor gives it: 5 heads of 96, a parameter of a float.

    What is missing for want of a file, a package or a device, or raised by the model's own code, may be there or right
    with other arguments. So may a number that is no size: it is often a placeholder. None stands for what is missing.
    """
    if not isinstance(error, _REFUSALS) or error.__traceback__ is None or "NoneType" in text_of(error):
        return False
    *_, (frame, _) = walk_tb(error.__traceback__)
    if not frame.f_code.co_filename.startswith(_NN):
        return False
    is_constructor = frame.f_code.co_name == "__init__" and isinstance(frame.f_locals.get("self"), torch.nn.Module)
    if is_constructor and isinstance(error, (AssertionError, ValueError)):
        return not _is_given_no_size(frame)
    is_lookup = frame.f_code.co_name.startswith("__") and frame.f_code.co_name not in ("__init__", "__new__")
    return not is_constructor and not is_lookup


def _is_given_no_size(frame: FrameType) -> bool:
    """Return whether a layer's constructor is given a negative number, or 0 where that is not its default."""
    kinds = type(frame.f_locals["self"]).__mro__
    kind = next((each for each in kinds if code_of(vars(each).get("__init__")) is frame.f_code), None)
    if kind is None:
        return False
    defaults = {name: each.default for name, each in inspect.signature(vars(kind)["__init__"]).parameters.items()}
    numbers = {name: value for name, value in frame.f_locals.items() if type(value) in (int, float)}
    return any(value < 0 or (value == 0 and defaults[name] != 0) for name, value in numbers.items() if name in defaults)


def uninitialised_part(model: torch.nn.Module, target: str, source_map: SourceMap) -> Failure | None:
    """Return the failure of a built model of which a part was never initialised.

    Such a part registers nothing, so its constructor need not raise, and every use of the model does.
    """
    waiting, seen = [model], {id(model)}
    for module in waiting:
        if not _is_initialised(module):
            cls = type(module)
            failure = Failure(target, NOT_INITIALISED, "", source_map.of_class(cls))
            return _not_initialised(failure, cls, code_of(getattr(cls, "__init__", None)), source_map)
        children = [child for child in module._modules.values() if child is not None and id(child) not in seen]
        seen.update(map(id, children))
        waiting += children
    return None


def never_initialises(cls: object, target: str, source_map: SourceMap) -> Failure | None:
    """Return the failure of a class whose text nowhere initialises ``torch.nn.Module``.

    It needs no instance, for classes whose arguments are unknown.
    """
    if type(cls) is not type or not issubclass(cls, torch.nn.Module):
        return None
    methods = methods_of(cls, source_map)
    constructor = next((method for method in methods if method.name == "__init__"), None)
    if constructor is None or constructor.cls is not cls or any(_may_initialise(method) for method in methods):
        return None
    stores = [node for node in constructor.attributes(ast.Store) if isinstance(node.ctx, ast.Store)]
    if not stores or cls.__new__ is not object.__new__:
        return None
    failure = Failure(target, NOT_INITIALISED, "", constructor.location(stores[0]))
    return _not_initialised(failure, cls, constructor.code, source_map)


def _is_initialised(module: torch.nn.Module) -> bool:
    # A scripted module has its children elsewhere, and is complete.
    return "_modules" in vars(module) or isinstance(module, torch.jit.ScriptModule)


def _is_constructor_of(code: CodeType, variables: dict[str, Any], module: torch.nn.Module) -> bool:
    return code.co_name == "__init__" and bool(code.co_varnames) and variables.get(code.co_varnames[0]) is module


def _not_initialised(failure: Failure, cls: type, code: CodeType | None, source_map: SourceMap) -> Failure:
    constructor = next((each for each in methods_of(cls, source_map) if each.code == code), None)
    if constructor is None:
        what, related = f"torch.nn.Module.__init__ has not run for {cls.__name__}", failure.related
    else:
        what, related = _reason(failure, constructor)
    message = f"{what}: a module can hold layers and parameters, and be called, only after super().__init__()."
    message = f"{message}\n{failure.message}" if failure.message else message
    # A subclass may initialise torch.nn.Module itself before it calls this constructor.
    needs = "a subclass that initialises torch.nn.Module" if cls.__subclasses__() else None
    return replace(failure, code=NOT_INITIALISED, message=message, related=related, needs=needs)


def _reason(failure: Failure, constructor: Method) -> tuple[str, tuple[RelatedPlace, ...]]:
    name = f"{constructor.cls.__name__}.__init__"
    calls = [node for node in constructor.nodes if isinstance(node, ast.Call) and _is_init(node.func)]
    line = 0 if failure.location is None else failure.location.line
    late = [call for call in calls if call.lineno >= line]
    if late and len(late) == len(calls):
        place = RelatedPlace("super().__init__() is called here", constructor.location(late[0]))
        return f"{name} calls super().__init__() too late", (place,)
    if calls:
        place = RelatedPlace("this does not reach torch.nn.Module.__init__", constructor.location(calls[0]))
        return f"{name} does not initialise torch.nn.Module", (place,)
    bare = next((node for node in constructor.nodes if _is_init(node)), None)
    if bare is not None:
        place = RelatedPlace("this is not called: it lacks ()", constructor.location(bare))
        return f"{name} does not call super().__init__()", (place,)
    start = constructor.source_map.of_definition(constructor.code)
    places = (RelatedPlace("it belongs to the start of this", start),) if start is not None else ()
    return f"{name} does not call super().__init__()", places


def _is_init(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "__init__"


def _may_initialise(method: Method) -> bool:
    return method.name in ("__new__", "__init_subclass__") or method.mentions("__init__", "super")


def _local_variable(failure: Failure, variables: dict[str, Any], source_map: SourceMap) -> Failure:
    module, name = variables.get("self"), variables.get("name")
    for meant in meant_attributes(methods_of(type(module), source_map)):
        if meant.name == name:
            return replace(
                failure,
                code=LOCAL_INSTEAD_OF_ATTRIBUTE,
                message=f"{meant.message}\n{failure.message}",
                location=meant.constructor.location(meant.target),
                related=meant.related(),
            )
    return failure


def _module_code() -> Iterator[CodeType]:
    for value in vars(torch.nn.Module).values():
        code = code_of(value)
        if code is not None:
            yield code


_MODULE_CODE = frozenset(_module_code())
"""Code of ``torch.nn.Module`` itself, which raises if the module is not initialised."""
_GETATTR = torch.nn.Module.__getattr__.__code__
