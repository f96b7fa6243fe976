"""First guesses of how a model is made: by the names, annotations and defaults of the constructor's arguments."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import sys
import types
import typing
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import torch

from .guesses import Group, Guess, Open, Size, Tensor, Text
from .names import Names, called_class, called_module, sizes_of

_DEEPEST = 3
"""Of configurations in configurations."""


def first_making(target: Any, name: str, names: Names, module: ModuleType, depth: int = 0) -> Group:
    """The likeliest call that makes ``target``, which is ``name`` in ``module``."""
    items = [
        (parameter.name, likely_argument(parameter, names, module, depth))
        for parameter in parameters_of(target)
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    return Group("call", tuple(items), name)


def instance_of(cls: type) -> Group:
    """The likeliest call that makes an instance of a class that its module calls by its own name."""
    try:
        return first_making(cls, cls.__name__, Names(), sys.modules.get(cls.__module__, types.ModuleType("")))
    except (TypeError, ValueError):
        # What has no signature is asked for by the error that it raises.
        return Group("call", (), cls.__name__)


def is_nothing(default: object) -> bool:
    """Whether a default is None or an empty sequence, of which nothing can be made."""
    return default is None or (isinstance(default, (tuple, list)) and not default)


def optional_arguments(target: Any, names: Names, module: ModuleType) -> dict[str, Guess]:
    """What may be passed for the arguments that default to nothing, which not every model can do without."""
    parameters = [parameter for parameter in parameters_of(target) if is_nothing(parameter.default)]
    return {parameter.name: likely_argument(parameter, names, module, 0) for parameter in parameters}


def other_defaults(target: Any) -> dict[str, Guess]:
    """What may be passed for flags and paddings that have a default: the other value, a padding that keeps edges."""
    found: dict[str, Guess] = {}
    for parameter in parameters_of(target):
        if isinstance(parameter.default, bool):
            found[parameter.name] = Text(str(not parameter.default))
        elif parameter.name in ("padding", "pad") and parameter.default == 0:
            found[parameter.name] = Size(1)
    return dict(sorted(found.items(), key=lambda item: not isinstance(item[1], Size)))


def further_arguments(target: Any, names: Names) -> dict[str, list[Guess]]:
    """What may be passed for ``*name``: a size that fits any number of values, sizes, or modules."""
    return {
        f"*{parameter.name}": [
            Group("list", (("[0]", Text("-1")),)),
            sizes_of(2, names.size(parameter.name)),
            Group("list", (("[0]", Text(called_module(parameter.name))),)),
        ]
        for parameter in parameters_of(target)
        if parameter.kind is parameter.VAR_POSITIONAL
    }


def parameters_of(target: Any) -> list[inspect.Parameter]:
    """Those of what a class or factory is called with."""
    try:
        return list(inspect.signature(target, eval_str=True).parameters.values())
    except Exception:
        # An annotation is any expression of the user's: where one raises they are taken as they stand.
        return list(inspect.signature(target).parameters.values())


def likely_argument(parameter: inspect.Parameter, names: Names, module: ModuleType, depth: int) -> Guess:
    """What an argument is, by its annotation, else by its name."""
    annotated = _of_annotation(parameter.annotation, parameter.name, names, module, depth)
    return names.of(parameter.name) if annotated is None else annotated


def _of_annotation(annotation: Any, name: str, names: Names, module: ModuleType, depth: int) -> Guess | None:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        inner = [each for each in arguments if each is not type(None)]
        return _of_annotation(inner[0], name, names, module, depth) if inner else None
    if origin is typing.Literal:
        return Text(repr(arguments[0]))
    if origin in (list, tuple, Sequence):
        return _of_sequence(origin, arguments, name, names)
    if origin is type or annotation is type:
        return Text(called_class(name))
    if origin is dict or annotation is dict:
        return Open(name, 2)
    if origin is not None or not isinstance(annotation, type) or annotation is inspect.Parameter.empty:
        return None
    return _of_class(annotation, name, names, module, depth)


def _of_sequence(origin: Any, arguments: tuple[Any, ...], name: str, names: Names) -> Guess | None:
    if not arguments or arguments[0] not in (int, float):
        return None
    count = len(arguments) if origin is tuple and Ellipsis not in arguments else 3
    found = sizes_of(count, names.size(name))
    return dataclasses.replace(found, kind="tuple") if origin is tuple else found


def _of_class(annotation: type, name: str, names: Names, module: ModuleType, depth: int) -> Guess | None:
    if annotation is bool:
        return Text("False")
    if annotation is int:
        guess = names.of(name)
        return guess if isinstance(guess, Open) else Open(name, 2)
    if annotation is float:
        guess = names.of(name)
        return guess if isinstance(guess, Text) and guess.code[:1].isdigit() else Text("0.5")
    if annotation is str:
        return None if names.of(name) is None else Open(name, 2)
    if annotation is torch.Tensor:
        return Tensor((names.size(name),))
    if annotation is torch.device:
        return Text("'cpu'")
    if issubclass(annotation, torch.nn.Module) and annotation.__module__.startswith("torch."):
        return Text(called_module(name))
    return _of_own_class(annotation, names, module, depth)


def _of_own_class(annotation: type, names: Names, module: ModuleType, depth: int) -> Guess | None:
    """An instance of a class that the file can name: a configuration, or a part that is handed in."""
    name = annotation.__name__
    if vars(module).get(name) is not annotation or depth >= _DEEPEST or inspect.isabstract(annotation):
        return None
    if annotation.__module__ == typing.__name__:
        # ``Any`` is a class since Python 3.11.
        return None
    if issubclass(annotation, enum.Enum):
        members = list(annotation)
        return Text(f"{name}.{members[0].name}") if members else None
    try:
        return first_making(annotation, name, names, module, depth + 1)
    except (TypeError, ValueError):
        return None
