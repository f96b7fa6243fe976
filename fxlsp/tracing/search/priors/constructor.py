"""First guesses of constructor arguments, by their names, annotations and defaults."""

from __future__ import annotations

import enum
import inspect
import re
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import torch

from ..trials.values import Group, Guess, Open, Size, Tensor, Text, list_of, sizes_of
from .class_body import ClassBody
from .tables import (
    ARGUMENT_SIZES,
    ARGUMENT_TEXTS,
    ASKS_FOR_WEIGHTS,
    CALLED_CLASSES,
    CALLED_MODULES,
    COLOURS,
    CONFIGURATION,
    COUNT,
    FEATURE,
    IN_CHANNELS,
    OF_WHOLE,
    PART,
    POOL,
    WHOLE,
    WORDS,
)

_DEEPEST = 3
"""Configurations in configurations."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")


class NamePriors:
    """Guesses by name: the same size for the same name, and another for another one."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._body = ClassBody()
        self.takes_images = False
        """Whether the target takes images themselves, not maps of features."""
        self.configurations: Mapping[str, Sequence[Guess]] = {}
        """For arguments of the target: those that the user's code makes itself, the best first."""

    def read(self, body: ClassBody) -> None:
        """Take into account how a class uses its arguments."""
        self._body = body

    def of_whole_image_model(self) -> None:
        """Take into account that the target takes images themselves, not maps of features."""
        self.takes_images = True

    def of(self, name: str) -> Guess:
        """Return what ``name`` is likely to be: exactly known for flags and rates, else open."""
        plain = _in_snake_case(name.strip("_"))
        code = ARGUMENT_TEXTS.of(plain)
        if code is not None:
            return Text(code)
        return Text("False") if name in self._body.flags else Open(name, self.size(plain))

    def size(self, name: str) -> int:
        """Return what ``name`` is if it is a number."""
        is_feature = FEATURE.fullmatch(name.lower()) is not None
        if name in self._body.steps and not is_feature:
            return self._body.steps[name]
        if self.takes_images and IN_CHANNELS.fullmatch(name):
            return COLOURS
        size = ARGUMENT_SIZES.of(name)
        if size is not None:
            return size
        if is_configuration(name) or (not is_feature and (COUNT.fullmatch(name) or name in self._body.counts)):
            return 2
        # The elements of ``dims`` are each a ``dim``.
        single = name[:-1] if len(name) > 2 and name.endswith("s") else name
        if single not in self._sizes:
            self._sizes[single] = POOL[min(len(self._sizes), len(POOL) - 1)]
        return self._sizes[single]


def _in_snake_case(name: str) -> str:
    """Return ``batch_size`` for ``batchSize`` and ``BATCH_SIZE``, which mean the same; single letters stay."""
    if len(name) > 1 and name.isupper():
        # As in configurations that are written like constants.
        return name.lower()
    return _HUMP.sub("_", name).lower() if _HUMP.search(name) else name


def is_configuration(name: str) -> bool:
    """Return whether an argument of this name is likely to be a configuration."""
    return CONFIGURATION.fullmatch(name) is not None


def takes_images(target: Any, name: str) -> bool:
    """Return whether a class is a whole model of images by its name, its arguments and what its file uses."""
    try:
        named = {parameter.name for parameter in parameters_of(target)}
        lines, _ = inspect.findsource(target)
    except (OSError, TypeError, ValueError):
        return False
    whole = WHOLE.fullmatch(name) is not None or any(map(OF_WHOLE.fullmatch, named))
    return whole and PART.fullmatch(name) is None and any("Conv2d" in line or "conv_nd" in line for line in lines)


def called_class(name: str) -> str:
    """Return torch's class that an argument is likely to be when it is called to make a module."""
    return CALLED_CLASSES.of(name) or ""


def called_module(name: str) -> str:
    """Return a module that an argument is likely to be when it is called with tensors."""
    return CALLED_MODULES.of(name) or ""


def likely_words(name: str) -> tuple[str, ...]:
    """Return what a string of this name often is, where the code does not compare it with anything."""
    return WORDS.of(name) or ()


def first_init(target: Any, name: str, names: NamePriors, module: ModuleType, depth: int = 0) -> Group:
    """Return the likeliest call that constructs ``target``, which is ``name`` in ``module``."""
    items = [
        (parameter.name, likely_argument(parameter, names, module, depth))
        for parameter in parameters_of(target)
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    return Group("call", tuple(items), name)


def instance_of(cls: type) -> Group:
    """Return the likeliest call that constructs a class that its module calls by its own name."""
    try:
        return first_init(cls, cls.__name__, NamePriors(), sys.modules.get(cls.__module__, types.ModuleType("")))
    except (TypeError, ValueError):
        # What has no signature is asked for by the error that it raises.
        return Group("call", (), cls.__name__)


def is_nothing(default: object) -> bool:
    """Return whether a default is None or an empty sequence, of which nothing can be made."""
    return default is None or (isinstance(default, (tuple, list)) and not default)


def optional_arguments(target: Any, names: NamePriors, module: ModuleType) -> dict[str, Guess]:
    """Return arguments that default to nothing, which not every model can do without, and what they may be."""
    parameters = [parameter for parameter in parameters_of(target) if is_nothing(parameter.default)]
    return {parameter.name: likely_argument(parameter, names, module, 0) for parameter in parameters}


def other_defaults(target: Any) -> dict[str, Guess]:
    """Return other values of flags and paddings: the opposite, and a padding that keeps edges."""
    found: dict[str, Guess] = {}
    for parameter in parameters_of(target):
        if isinstance(parameter.default, bool):
            found[parameter.name] = Text(str(not parameter.default))
        elif parameter.name in ("padding", "pad") and parameter.default == 0:
            found[parameter.name] = Size(1)
    return dict(sorted(found.items(), key=lambda item: not isinstance(item[1], Size)))


def class_names(target: Any) -> dict[str, Guess]:
    """Return the arguments that default to a class, with its name: some code looks the class up by it."""
    kinds = {parameter.name: parameter.default for parameter in parameters_of(target)}
    return {name: Text(repr(kind.__name__)) for name, kind in kinds.items() if is_default_class(kind)}


def is_default_class(default: object) -> bool:
    """Return whether a default of a parameter is a class."""
    return isinstance(default, type) and default is not inspect.Parameter.empty


def without_weights(target: Any) -> dict[str, Guess]:
    """Return the arguments that ask for trained weights by default, with values that do not.

    Those of base classes count too, where the constructor takes them as ``**name``.
    """
    found: dict[str, Guess] = {}
    for each in (target, *target.__mro__[1:]) if isinstance(target, type) else (target,):
        if isinstance(each, type) and "__init__" not in vars(each):
            continue
        parameters = parameters_of(each)
        for parameter in parameters:
            asks = ASKS_FOR_WEIGHTS.search(parameter.name) and isinstance(parameter.default, (bool, str))
            if asks and parameter.default and parameter.name not in found:
                found[parameter.name] = Text("False" if parameter.default is True else "None")
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            break
    return found


def further_arguments(target: Any, names: NamePriors) -> dict[str, list[Guess]]:
    """Return what may be passed for ``*name``: a size that fits any number of values, sizes, or modules."""
    return {
        f"*{parameter.name}": [
            list_of([Text("-1")]),
            sizes_of(2, names.size(parameter.name)),
            list_of([Text(called_module(parameter.name))]),
        ]
        for parameter in parameters_of(target)
        if parameter.kind is parameter.VAR_POSITIONAL
    }


def parameters_of(target: Any) -> list[inspect.Parameter]:
    """Return the parameters of a class or factory."""
    try:
        return list(inspect.signature(target, eval_str=True).parameters.values())
    except Exception:
        # An annotation is any expression of the user's: where one raises they are taken as texts.
        return list(inspect.signature(target).parameters.values())


def hidden_parameters(cls: type) -> set[str]:
    """Return the parameters of base classes that the constructor of a class takes as ``**name``."""
    found: set[str] = set()
    for each in inspect.getmro(cls):
        method = vars(each).get("__init__")
        if not isinstance(method, types.FunctionType):
            continue
        parameters = inspect.signature(method).parameters.values()
        found.update(parameter.name for parameter in parameters)
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return found
    return found


def likely_argument(parameter: inspect.Parameter, names: NamePriors, module: ModuleType, depth: int) -> Guess:
    """Guess an argument: what the code makes for it, else by its annotation, else by its name."""
    if depth == 0 and names.configurations.get(parameter.name):
        return names.configurations[parameter.name][0]
    annotated = _of_annotation(parameter.annotation, parameter.name, names, module, depth)
    return names.of(parameter.name) if annotated is None else annotated


def _of_annotation(annotation: Any, name: str, names: NamePriors, module: ModuleType, depth: int) -> Guess | None:
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


def _of_sequence(origin: Any, arguments: tuple[Any, ...], name: str, names: NamePriors) -> Guess | None:
    if not arguments or arguments[0] not in (int, float):
        return None
    count = len(arguments) if origin is tuple and Ellipsis not in arguments else 3
    return sizes_of(count, names.size(name), "tuple" if origin is tuple else "list")


def _of_class(annotation: type, name: str, names: NamePriors, module: ModuleType, depth: int) -> Guess | None:
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
    return _of_own_class(annotation, name, names, module, depth)


def _of_own_class(annotation: type, argument: str, names: NamePriors, module: ModuleType, depth: int) -> Guess | None:
    """Guess an instance of a class that the file can name: a configuration, or a module."""
    name = annotation.__name__
    if vars(module).get(name) is not annotation or depth >= _DEEPEST or inspect.isabstract(annotation):
        return None
    if takes_any_fields(annotation):
        return Open(argument, 2, made_by=name)
    if annotation.__module__ == typing.__name__:
        # ``Any`` is a class since Python 3.11.
        return None
    if issubclass(annotation, enum.Enum):
        members = list(annotation)
        return Text(f"{name}.{members[0].name}") if members else None
    try:
        return first_init(annotation, name, names, module, depth + 1)
    except (TypeError, ValueError):
        return None


def takes_any_fields(cls: type) -> bool:
    """Return whether a class makes an object of whatever fields it is given by name, such as a dict with attributes."""
    is_plain = inspect.getmro(cls)[1:] == (object,)
    if not is_plain and not issubclass(cls, dict):
        return False
    made = inspect.getattr_static(cls, "__init__")
    if made is dict.__init__:
        return True
    if not isinstance(made, types.FunctionType):
        return False
    kinds = [parameter.kind for parameter in list(inspect.signature(made).parameters.values())[1:]]
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return inspect.Parameter.VAR_KEYWORD in kinds and all(kind in variable for kind in kinds)


ARRAY = "__import__('numpy').ones("


def array_of(shape: tuple[int, ...]) -> Text:
    """Return an array of numpy's."""
    return Text(f"{ARRAY}{shape}, dtype='float32')")
