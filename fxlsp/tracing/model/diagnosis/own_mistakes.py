"""Whether an exception shows a mistake in the model's code that no other inputs or arguments could mend.

What depends on a value that the model was given (the rank of a tensor, a key of a dict, a number) may be right with
another one. A name that nothing binds, an attribute that a layer does not have, or a call that passes a layer where a
tensor belongs, is wrong whatever the model is given.
"""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Iterable, Mapping
from types import FrameType, ModuleType, TracebackType
from typing import Any

import torch
import torch.fx

from ...isolation.torch_private import tensors_in
from .. import module_tree
from ..locations.bytecode.instructions import raising_instruction
from ..locations.bytecode.opcodes import attribute_before, passes_unpacked_arguments, unpacks, writes_attribute
from ..locations.class_text import codes_within
from ..locations.code_origin import is_installed, is_ours, is_torch
from ..operations.operation import layer_name
from .bound_elsewhere import assigns_layer_of_code, is_layer_of_code, is_set_later, may_be_bound, may_be_set
from .constant_keys import lacks_constant_key
from .failures import text_of
from .torch_signatures import is_wrong_call_of_torch

_CALL = re.compile(
    r"(missing \d+ required (positional|keyword-only) argument|takes (from )?\d+ (to \d+ )?positional arguments? but"
    r"|got an unexpected keyword argument|got multiple values for argument)"
)
"""What Python says about a call that does not fit the signature of a function."""
_TYPE_NAMES = re.compile(
    r"'(?:\w+\.)*(\w+)'(?= (?:object|and|has no len))|and '(?:\w+\.)*(\w+)'"
    r"|(?:not|but got) (?:\w+\.)*(\w+)|iterable (\w+) object"
)
"""Names of types in Python's and torch's messages about operands of a wrong type."""
_COMBINATION = re.compile(r"received an invalid combination of arguments - got \((.*)\), but expected")
"""What torch says about operands of wrong types where there are several signatures."""
_OPERAND = re.compile(
    rf"unsupported operand type|must be (tuple of )?\w*Tensors?\b|expected Tensor\b|{_COMBINATION.pattern}"
)
"""What Python and torch say about an operand that is no tensor."""
_SEQUENTIAL_ADDED = "add operator supports only objects of Sequential class"
_REFUSED_ATTRIBUTE = re.compile(r"cannot assign '.+' (?:as (?:parameter|child module)|object to buffer) '\w+' \(torch")
"""What torch says about an attribute that is registered, and is assigned something else."""
_OTHER_CLASS = "super(type, obj): obj"
"""What Python says first about ``super(Other, self)`` where ``self`` is no instance of ``Other``."""
_CONTAINER_CALLED = re.compile(r"^Module \[(ModuleList|ModuleDict|ParameterList|ParameterDict)\] is missing")
"""What torch says when a container that has no ``forward`` is called."""
_CONTAINERS = (torch.nn.ModuleList, torch.nn.ModuleDict, torch.nn.Sequential, torch.nn.ParameterList)


def is_own_mistake(error: BaseException, model: torch.nn.Module | None, is_given: bool) -> bool:
    """Return whether the code that raised ``error`` fails whatever the model is given.

    False wherever that is not known.

    Args:
        error: The exception, with its traceback.
        model: The model, as far as it is constructed.
        is_given: Whether the constructor's arguments are the user's. Guessed ones may be of the wrong kind.
    """
    raised = _raised_in(error)
    if raised is None:
        # A module that is called wrongly raises before any of its code runs.
        return isinstance(error, TypeError) and _is_wrong_call(error, {}, model)
    frame = raised.tb_frame
    file = frame.f_code.co_filename
    if is_installed(file) or file.startswith("<") or waits_for_attribute(error):
        # Of a package, or a recipe, or of what a caller does first.
        return False
    if isinstance(error, NameError):
        # An unbound local variable depends on the branch that was taken.
        return not isinstance(error, UnboundLocalError) and not may_be_bound(error.name or "", file)
    if isinstance(error, AttributeError):
        # With a cause, something is missing that failed to be loaded.
        return error.__cause__ is None and _lacks_attribute(error.obj, error.name or "", raised, model, is_given)
    if isinstance(error, (TypeError, ValueError)) and is_given and _unpacks_attribute(raised):
        return True
    if isinstance(error, ValueError):
        return is_given and text_of(error).startswith(_SEQUENTIAL_ADDED)
    if isinstance(error, TypeError):
        if is_given and (_is_named_in_list(error, model) or _assigns_computed(error, raised)):
            return True
        if "missing" in text_of(error) and passes_unpacked_arguments(raising_instruction(raised)):
            # What is missing may be passed by the caller: ``super().__init__(**kwargs)``.
            return False
        return (
            text_of(error).startswith(_OTHER_CLASS)
            or (_REFUSED_ATTRIBUTE.match(text_of(error)) is not None and assigns_layer_of_code(raised))
            or _is_wrong_call(error, frame.f_globals, model)
            or is_wrong_call_of_torch(error, raised)
            or (is_given and _meets_module_or_none(error, model))
        )
    if isinstance(error, NotImplementedError):
        return is_given and _CONTAINER_CALLED.search(text_of(error)) is not None
    if lacks_constant_key(error, raised):
        return True
    return is_given and isinstance(error, (IndexError, KeyError)) and _is_raised_by_container(error)


def _assigns_computed(error: TypeError, raised: TracebackType) -> bool:
    """Return whether a module refuses a tensor that was computed for an attribute that is a parameter, or the like.

    An input may be another one: a parameter that a caller passes.
    """
    behind = raised.tb_next
    if behind is None or _REFUSED_ATTRIBUTE.match(text_of(error)) is None:
        return False
    value, code = behind.tb_frame.f_locals.get("value"), raised.tb_frame.f_code
    given = [raised.tb_frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]]
    return isinstance(value, torch.Tensor) and all(value is not each for each in given)


def is_computed_for_parameter(error: BaseException | None) -> bool:
    """Return whether a module refuses a computed tensor for an attribute that is a parameter, or the like."""
    raised = None if not isinstance(error, TypeError) else _raised_in(error)
    return isinstance(error, TypeError) and raised is not None and _assigns_computed(error, raised)


def waits_for_attribute(error: BaseException) -> bool:
    """Return whether what is None may be an attribute that a caller sets first."""
    if not isinstance(error, (TypeError, AttributeError)) or "NoneType" not in text_of(error):
        return False
    raised = _raised_in(error)
    return raised is not None and is_set_later(raised)


def is_mistaken_operation(node: torch.fx.Node, error: BaseException, operands: Iterable[Any]) -> bool:
    """Return whether the operation of a node fails whatever the model is given.

    Either an operand is a module, or a layer is called with arguments that it does not have, or it is a method that no
    tensor has, of a value that an operation returned: an input of the model may be something else than the tensor that
    it was given.
    """
    if isinstance(error, TypeError) and any(isinstance(each, torch.nn.Module) for each in operands):
        return True
    if isinstance(error, TypeError) and node.op == "call_module" and _CALL.search(text_of(error)) is not None:
        return True
    if isinstance(error, NotImplementedError) and node.op == "call_module":
        return _CONTAINER_CALLED.search(text_of(error)) is not None
    owner = node.args[0] if node.args else None
    return (
        isinstance(error, AttributeError)
        and isinstance(getattr(error, "obj", None), torch.Tensor)
        and node.op == "call_method"
        and not hasattr(torch.Tensor, str(node.target))
        and isinstance(owner, torch.fx.Node)
        and owner.op in ("call_function", "call_module", "call_method")
    )


def layer_as_tensor(error: BaseException, modules: Mapping[str, torch.nn.Module], operands: Iterable[Any] = ()) -> str:
    """Return one line about a layer that is an operand: ``layer `fc` (Linear) is used as a tensor``; "" without one.

    Args:
        error: The exception of the operation.
        modules: The modules of the model by their paths.
        operands: The operands of the operation, if they are known.
    """
    text = text_of(error)
    if not isinstance(error, TypeError) or _OPERAND.search(text) is None:
        return ""
    given = [each for value in operands for each in (value if isinstance(value, (list, tuple)) else (value,))]
    named = _types_in(text)
    alike = {path: module for path, module in modules.items() if type(module).__name__ in named}
    known = {path: module for path, module in alike.items() if any(module is each for each in given)} or alike
    if len(known) == 1:
        ((path, module),) = known.items()
        layer = f"layer `{layer_name(path)}` ({type(module).__name__})" if path else "the model itself"
    elif known or any(map(_is_layer, named)):
        layer = f"a layer ({next(name for name in sorted(named) if _is_layer(name) or known)})"
    else:
        return ""
    return f"{layer} is used as a tensor: is its call missing?"


def _raised_in(error: BaseException) -> TracebackType | None:
    """Return the innermost entry of the traceback that is neither torch's nor fxlsp's; None if there is none.

    These two are passed by each call of a module and each lookup of its attributes.
    """
    found, entry = None, error.__traceback__
    while entry is not None:
        if not _is_passed(entry.tb_frame.f_code.co_filename):
            found = entry
        entry = entry.tb_next
    return found


def _is_passed(file: str) -> bool:
    return is_torch(file) or is_ours(file)


def _lacks_attribute(
    owner: Any, name: str, raised: TracebackType, model: torch.nn.Module | None, is_given: bool
) -> bool:
    if owner is None:
        return is_given and _is_attribute_of_module(raised)
    if isinstance(owner, ModuleType):
        return True
    if isinstance(owner, torch.Tensor):
        return not hasattr(torch.Tensor, name) and model is not None and not _is_input(owner, raised, model)
    if inspect.isclass(owner):
        return is_given and issubclass(owner, torch.nn.Module)
    if isinstance(owner, torch.nn.Module):
        # While the constructor runs, no caller sets anything. A module that was guessed may be of another class.
        return (is_given or owner is model or is_layer_of_code(owner, raised, name)) and (
            model is None or not may_be_set(owner, name, raised, is_given)
        )
    return False


def _is_input(value: torch.Tensor, raised: TracebackType, model: torch.nn.Module) -> bool:
    """Return whether a tensor is an input of the model or part of one, which may be something else another time."""
    frame: FrameType | None = raised.tb_frame
    given: list[Any] = []
    while frame is not None:
        if frame.f_locals.get("self") is model and not _is_passed(frame.f_code.co_filename):
            given += frame.f_locals.values()
        frame = frame.f_back
    return not given or any(each is value for each in tensors_in(given))


def _is_attribute_of_module(raised: TracebackType) -> bool:
    """Return whether the value whose attribute is read is itself one of a module: ``self.act`` in ``self.act.weight``.

    The constructor has set it; an optional input, in contrast, is None only until one is given.
    """
    found = _attribute_before(raised)
    return found is not None and vars(found[0]).get(found[1], found) is None


def _attribute_before(raised: TracebackType) -> tuple[torch.nn.Module, str] | None:
    """Return the module and attribute that were read directly before the instruction that raised: ``self.act``."""
    found = attribute_before(raising_instruction(raised))
    if found is None:
        return None
    variable, name = found
    owner = raised.tb_frame.f_locals.get(variable)
    return (owner, name) if isinstance(owner, torch.nn.Module) else None


def arguments_of_caller(error: BaseException) -> list[str]:
    """Return the arguments that are missing in a call that passes on ``*args`` or ``**kwargs``."""
    raised = _raised_in(error)
    if raised is None or not isinstance(error, TypeError):
        return []
    if not passes_unpacked_arguments(raising_instruction(raised)):
        return []
    match = re.search(r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)", text_of(error))
    return [] if match is None else re.findall(r"'(\w+)'", match[1])


def _unpacks_attribute(raised: TracebackType) -> bool:
    """Return whether what cannot be unpacked is a constant that a constructor set: ``low, high = self.sizes``."""
    found = _attribute_before(raised) if unpacks(raising_instruction(raised)) else None
    if found is None:
        return False
    owner, name = found
    methods = [method for kind in type(owner).__mro__ for method in vars(kind).values()]
    functions = [method for method in methods if inspect.isfunction(method) and method.__name__ != "__init__"]
    codes = [code for function in functions for code in codes_within(function.__code__)]
    is_set = any(writes_attribute(code, name) for code in codes if not _is_passed(code.co_filename))
    return not is_set and _is_constant(vars(owner).get(name, owner))


def _is_constant(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return not isinstance(value, torch.Size) and all(map(_is_constant, value))
    return value is None or isinstance(value, (int, float, str))


def _is_wrong_call(error: TypeError, names: Mapping[str, Any], model: torch.nn.Module | None) -> bool:
    """Return whether a function of the workspace is called in a way that its signature does not allow.

    Args:
        error: The exception.
        names: The global names of the calling file.
        model: The model, whose own ``forward`` fxlsp calls with guessed inputs.
    """
    if _CALL.search(text_of(error)) is None:
        return False
    outer, _, name = text_of(error).partition("(")[0].rpartition(".")
    if not outer:
        return _is_of_workspace(names.get(name))
    kinds = {type(module) for module in module_tree.modules(model)} if model is not None else set()
    owner: Any = next((kind for kind in kinds if kind.__qualname__ == outer), None)
    if owner is not None and name == "forward":
        # The signature of a layer of torch is as certain. The root's own is what fxlsp calls with its inputs.
        return owner is not type(model)
    return _is_of_workspace(getattr(owner or names.get(outer), name, None))


def _is_of_workspace(function: Any) -> bool:
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    return code is not None and not is_installed(code.co_filename) and not _is_passed(code.co_filename)


def _meets_module_or_none(error: TypeError, model: torch.nn.Module | None) -> bool:
    """Return whether an operand of a wrong type is a module, or something that is no function is called."""
    text = text_of(error)
    if text.endswith("object is not callable"):
        return "Tensor'" not in text and "Proxy'" not in text
    kinds = {type(module).__name__ for module in module_tree.modules(model)} if model is not None else set()
    return any(name in kinds or _is_layer(name) for name in _types_in(text))


def _types_in(text: str) -> set[str]:
    """Return the names of types in a message about operands of a wrong type."""
    combination = _COMBINATION.search(text)
    if combination is not None:
        return set(re.findall(r"\w+", combination[1]))
    return {name for match in _TYPE_NAMES.finditer(text) for name in match.groups() if name}


def _is_layer(name: str) -> bool:
    kind = getattr(torch.nn, name, None)
    return inspect.isclass(kind) and issubclass(kind, torch.nn.Module)


def _is_named_in_list(error: TypeError, model: torch.nn.Module | None) -> bool:
    """Return whether a list of modules is indexed by a text that is none of the model's inputs."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_locals.get("self") is model and frame.f_code.co_name == "forward":
            code = frame.f_code
            given = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
            break
    else:
        return False
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    key, owner = frame.f_locals.get("idx"), frame.f_locals.get("self")
    is_of_list = isinstance(owner, (torch.nn.ModuleList, torch.nn.Sequential, torch.nn.ParameterList))
    # An input that is no tensor was guessed to be a text, or to hold one.
    return is_of_list and isinstance(key, str) and all(isinstance(each, torch.Tensor) for each in given[1:])


def _is_raised_by_container(error: BaseException) -> bool:
    """Return whether a container of modules has no such item."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return any(isinstance(frame.f_locals.get("self"), _CONTAINERS) for frame in frames[-3:])
