"""Expressions that make the arguments of a recording again.

A recording is data, perhaps written by others: each name in it is checked to be one, and each text is written as a
literal, so that nothing of it is executed unless it is a call that the recording describes.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Set
from typing import Any

from fxlsp.source.python.expressions import parse_expression, write
from fxlsp.source.python.imports import import_expression

_DEEPEST = 40
_DEPTHS_OF_OBJECTS = (_DEEPEST, 4, 3, 2)
"""Depths of objects in objects that are written, the next one where the text of one is too long or nests too deeply."""
_OBJECTS = frozenset({"state", "call"})
"""Kinds of values that are missing beyond such a depth, with the containers that they are in."""
_MOST_SIZES = 16
_LEFT_OUT = "..."
"""What stands for an attribute of a configuration that is not recorded."""
_FLOATS = frozenset({"float16", "float32", "float64", "bfloat16", "complex64", "complex128", "complex32"})
_INTS = frozenset({"uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"})


class NotMadeAgainError(Exception):
    """A value cannot be made again; the message is what it is."""


def recorded_arguments(arguments: Mapping[str, Any], home: str, dtypes: Mapping[str, str] | None = None) -> str:
    """Return the text of ``{"args": [...], "kwargs": {...}}`` as the arguments of a call.

    Args:
        home: path of the file in which the text is evaluated, as the recording names it.
        dtypes: Names of dtypes by those of the recording, for tensors that are made in another one.

    Raises:
        NotMadeAgainError: an argument cannot be made again.
    """
    for most_objects in _DEPTHS_OF_OBJECTS:
        text = _Writer(home, dtypes or {}, most_objects).arguments(arguments)
        call = parse_expression(f"_({text})")
        if isinstance(call, ast.Call):
            break
    else:
        raise NotMadeAgainError("what is nested too deeply")
    return ", ".join(
        [
            *map(write, call.args),
            *(f"{each.arg}={write(each.value)}" if each.arg else f"**{write(each.value)}" for each in call.keywords),
        ]
    )


class _Writer:
    def __init__(self, home: str, dtypes: Mapping[str, str], most_objects: int) -> None:
        """
        Args:
            most_objects: number of objects around an attribute from which on it is missing if it has an object.
        """
        self._home = home
        self._dtypes = dtypes
        self._depth = 0
        self._objects = 0
        self._most_objects = most_objects
        self._kinds: dict[str, Callable[[Any], str]] = {
            "float": self._special_float,
            "complex": lambda parts: f"complex({self.value(parts[0])}, {self.value(parts[1])})",
            "list": lambda items: f"[{self._items(items)}]",
            "tuple": lambda items: f"({self._items(items)}{',' if len(items) == 1 else ''})",
            "set": lambda items: f"{{{self._items(items)}}}" if items else "set()",
            "frozenset": lambda items: f"frozenset([{self._items(items)}])",
            "dict": self._dict,
            "range": lambda parts: f"range({self._items(parts)})",
            "slice": lambda parts: f"slice({self._items(parts)})",
            "ellipsis": lambda _: "...",
            "path": lambda path: f"{_imported('pathlib', 'Path')}({_checked(path, str)!r})",
            "tensor": self._tensor,
            "array": self._array,
            "array_dtype": lambda name: f"{_imported('numpy', 'dtype')}({_identifier(name)!r})",
            "scalar": lambda it: f"{_imported('numpy', _identifier(it['type']))}({self.value(it['value'])})",
            "torch": lambda name: f"torch.{_identifier(name)}",
            "device": lambda name: f"torch.device({_checked(name, str)!r})",
            "size": lambda sizes: f"torch.Size([{', '.join(map(str, _sizes(sizes)))}])",
            "name": self._name,
            "member": lambda it: f"{self._name(it['enum'])}.{_identifier(it['name'])}",
            "partial": self._partial,
            "call": self._call,
            "state": self._state,
            "omegaconf": lambda data: f"{_imported('omegaconf', 'OmegaConf')}.create({self.value(data)})",
        }

    def arguments(self, arguments: Mapping[str, Any]) -> str:
        args, kwargs = _checked(arguments["args"], list, tuple), _checked(arguments["kwargs"], dict)
        texts = [self.value(each) for each in args]
        named = {name: self.value(each) for name, each in kwargs.items()}
        texts += [f"{name}={text}" for name, text in named.items() if _is_identifier(name)]
        others = [f"{name!r}: {text}" for name, text in named.items() if not _is_identifier(name)]
        return ", ".join([*texts, f"**{{{', '.join(others)}}}"] if others else texts)

    def value(self, value: Any) -> str:
        """Return the text of a described value.

        Raises:
            NotMadeAgainError: it cannot be made again.
        """
        if value is None or isinstance(value, (bool, int, str)):
            return repr(value)
        if isinstance(value, float) and math.isfinite(value):
            return repr(value)
        if not isinstance(value, dict) or len(value) != 1:
            raise NotMadeAgainError("a value of an unknown kind")
        ((kind, content),) = value.items()
        if kind == "left_out":
            raise NotMadeAgainError(str(content))
        write_kind = self._kinds.get(kind)
        self._depth += 1
        if write_kind is None or self._depth > _DEEPEST:
            raise NotMadeAgainError("a value of an unknown kind")
        try:
            return write_kind(content)
        except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
            raise NotMadeAgainError("a value that is damaged in the recording") from error
        finally:
            self._depth -= 1

    def _items(self, items: Any) -> str:
        return ", ".join(map(self.value, _checked(items, list)))

    def _dict(self, pairs: Any) -> str:
        return f"{{{', '.join(f'{self.value(key)}: {self._part(value)}' for key, value in _checked(pairs, list))}}}"

    def _part(self, value: Any) -> str:
        """Return the text of a part of a configuration, which may have parts that the model does not need."""
        try:
            return self.value(value)
        except NotMadeAgainError:
            if not _has(value, {"left_out"}):
                raise
            # A list with such an item is missing as a whole: it has another length without the item.
            return _LEFT_OUT

    def _attribute(self, value: Any) -> str:
        """Return the text of an attribute of an object, which may be what only another part of a program needs.

        What takes its place is true as it is, and not None.
        """
        text = self._part(value)
        return _LEFT_OUT if self._objects >= self._most_objects and _has(value, _OBJECTS) else text

    def _tensor(self, it: Any) -> str:
        dtype = _identifier(it["dtype"])
        return _tensor_text(self._dtypes.get(dtype, dtype), it)

    def _special_float(self, text: Any) -> str:
        if text not in ("nan", "inf", "-inf"):
            raise NotMadeAgainError("a value that is damaged in the recording")
        return f"float({text!r})"

    def _array(self, it: Any) -> str:
        return f"{_imported('numpy', 'ones')}({_shape(it['shape'])}, dtype={_identifier(it['dtype'])!r})"

    def _name(self, reference: Any) -> str:
        name, module = _dotted(reference["name"]), _dotted(reference["module"])
        if reference.get("file") == self._home:
            return name
        if module == "builtins":
            return name
        if module.startswith("torch.nn.modules."):
            return f"torch.nn.{name}"
        if module == "torch" or module.startswith("torch.nn.functional"):
            return f"{module}.{name}"
        first, _, rest = name.partition(".")
        return f"{_imported(module, first)}.{rest}" if rest else _imported(module, first)

    def _partial(self, it: Any) -> str:
        given = self.arguments(it)
        function = self.value(it["function"])
        return f"{_imported('functools', 'partial')}({function}{', ' if given else ''}{given})"

    def _call(self, it: Any) -> str:
        kind, args, kwargs = self._name(it["class"]), _checked(it["args"], list), _checked(it["kwargs"], dict)
        if not args and kwargs:
            # A configuration: only the model knows which of its fields matter.
            parts = (f"{name}={self._part(each)}" for name, each in kwargs.items() if _checked_name(name))
            return f"{kind}({', '.join(parts)})"
        return f"{kind}({self.arguments(it)})"

    def _state(self, it: Any) -> str:
        attributes = _checked(it["attributes"], dict)
        kind = self._name(it["class"])
        self._objects += 1
        parts = ", ".join(f"{_checked(name, str)!r}: {self._attribute(each)}" for name, each in attributes.items())
        self._objects -= 1
        if it.get("setstate") is True:
            return f"(lambda made: (made.__setstate__({{{parts}}}), made)[1])(object.__new__({kind}))"
        return f"(lambda made: made.__dict__.update({{{parts}}}) or made)(object.__new__({kind}))"


def _has(value: Any, kinds: Set[str]) -> bool:
    """Return whether a described value or any part of it is of one of these kinds."""
    if isinstance(value, dict):
        return not kinds.isdisjoint(value) or any(_has(each, kinds) for each in value.values())
    return isinstance(value, list) and any(_has(each, kinds) for each in value)


def _tensor_text(dtype: str, it: Any) -> str:
    sizes = _size_arguments(it["shape"])
    if dtype in _FLOATS:
        further = "" if dtype == "float32" else f", dtype=torch.{dtype}"
        further += ", requires_grad=True" if it.get("requires_grad") and not it.get("parameter") else ""
        text = f"torch.randn({sizes}{further})"
        return f"torch.nn.Parameter({text})" if it.get("parameter") else text
    if dtype.startswith("float"):
        return f"torch.randn({sizes}).to(torch.{dtype})"
    if dtype == "bool" or dtype in _INTS:
        # Ones are indexes, lengths and masks with which a model runs.
        text = f"torch.ones({sizes}, dtype=torch.{dtype})"
        return f"torch.nn.Parameter({text}, requires_grad=False)" if it.get("parameter") else text
    raise NotMadeAgainError(f"a tensor of {dtype}")


def _size_arguments(sizes: Any) -> str:
    """Return sizes as arguments of a factory of tensors, as people write them: ``7, 8``."""
    return ", ".join(map(str, _sizes(sizes))) or "()"


def _shape(sizes: Any) -> str:
    found = _sizes(sizes)
    return f"({', '.join(map(str, found))}{',' if len(found) == 1 else ''})"


def _sizes(sizes: Any) -> list[int]:
    found = _checked(sizes, list)
    if len(found) > _MOST_SIZES or not all(type(size) is int and size >= 0 for size in found):
        raise NotMadeAgainError("a tensor of unknown sizes")
    return list(found)


def _imported(module: str, name: str) -> str:
    expression = import_expression(f"{module}.{name}")
    if expression is None:
        raise NotMadeAgainError("a name of an unknown module")
    return write(expression)


def _checked(value: Any, *kinds: type) -> Any:
    if not isinstance(value, kinds):
        raise TypeError("a part of a recording is of another type")
    return value


def _checked_name(name: str) -> bool:
    _identifier(name)
    return True


def _identifier(text: Any) -> str:
    if not _is_identifier(text):
        raise NotMadeAgainError("a name that is none")
    return str(text)


def _is_identifier(text: Any) -> bool:
    return isinstance(text, str) and text.isidentifier() and text not in ("None", "True", "False", "__debug__")


def _dotted(text: Any) -> str:
    for part in _checked(text, str).split("."):
        _identifier(part)
    return str(text)
