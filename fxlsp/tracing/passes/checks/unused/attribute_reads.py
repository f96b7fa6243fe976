"""Conservative search for code that may read an attribute of a module.

What is read may be used, in ``forward``, in a loss or by other code that has the model; only what nothing reads is
known to be unused. Code that reads attributes by computed names, or iterates over all children or parameters, may read
any.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cached_property
from types import CodeType, FunctionType

import torch

from ....model import module_tree
from ....model.locations.bytecode.opcodes import reads_attribute
from ....model.locations.class_text import code_of, codes_within
from ....model.locations.code_origin import is_installed
from ....model.locations.source_map import SourceMap
from .syntax_reads import SyntaxReads

_READ_ANY = {
    "__dict__",
    "_modules",
    "_parameters",
    "attrgetter",
    "children",
    "get_parameter",
    "get_submodule",
    "getattr",
    "modules",
    "named_children",
    "named_modules",
    "named_parameters",
    "parameters",
    "vars",
}
"""Names by which code reads attributes without naming them."""
_DEFINE_ATTRIBUTES = ("__getattr__", "__getattribute__")


class AttributeReads:
    """Attribute reads in a model's classes and in the loaded files of the workspace."""

    def __init__(self, root: torch.nn.Module, places: SourceMap) -> None:
        self._root = root
        self._places = places
        self._read_any: dict[type, bool] = {}
        self._read_by_class: dict[tuple[type, str], bool] = {}

    def may_read(self, path: str, owner: torch.nn.Module, name: str) -> bool:
        """Return whether any code may read the attribute ``name`` of the module ``owner``.

        Args:
            path: The path of ``owner``.
            owner: The module.
            name: The name of a child or parameter.
        """
        # In the order of their cost: nearly everything is read by the class itself.
        return (
            bool(owner._forward_hooks or owner._forward_pre_hooks)
            or self._class_reads(type(owner), name)
            or any(self._reads_any(cls) for cls in self._classes_around(path, owner))
            or self._syntax.may_read(frozenset(cls.__name__ for cls in _bases(type(owner))), name)
            or any(reads_attribute(code, name, except_own=True) for code in self._codes)
        )

    def is_read_elsewhere(self, name: str) -> bool:
        """Return whether a file reads ``name`` of anything but ``self``."""
        return self._syntax.may_read(frozenset(), name)

    def _class_reads(self, cls: type, name: str) -> bool:
        if (cls, name) not in self._read_by_class:
            related = {base for each in (cls, *_subclasses(cls)) for base in _bases(each)}
            codes = (code for base in related for code in _codes_of(base))
            self._read_by_class[cls, name] = any(reads_attribute(code, name) for code in codes)
        return self._read_by_class[cls, name]

    def _classes_around(self, path: str, owner: torch.nn.Module) -> Iterator[type]:
        """Yield the classes of ``owner``, their subclasses, and those of modules above it.

        Of the latter, only classes that are not torch's.
        """
        yield from _bases(type(owner))
        yield from _subclasses(type(owner))
        module, names = self._root, path.split(".") if path else []
        for name in names:
            yield from (cls for cls in _bases(type(module)) if not is_of_torch(cls))
            child = module._modules.get(name)
            if child is None:
                return
            module = child

    def _reads_any(self, cls: type) -> bool:
        if cls not in self._read_any:
            self._read_any[cls] = any(
                code.co_name in _DEFINE_ATTRIBUTES or not _READ_ANY.isdisjoint(code.co_names) for code in _codes_of(cls)
            )
        return self._read_any[cls]

    @cached_property
    def _codes(self) -> list[CodeType]:
        """Code of the model's classes, their bases, subclasses and neighbouring functions.

        Some of these use a module of another class.
        """
        types = {type(module) for module in module_tree.modules(self._root)}
        classes = {cls for kind in types for cls in (*_bases(kind), *_subclasses(kind))}
        codes = [code for cls in classes for code in _codes_of(cls)]
        for name in {cls.__module__ for cls in classes if not is_of_torch(cls)}:
            beside = list(vars(sys.modules[name]).values()) if name in sys.modules else []
            codes += [code for value in beside if isinstance(value, FunctionType) for code in _codes_of_value(value)]
        return codes

    @cached_property
    def _syntax(self) -> SyntaxReads:
        trees = (self._places.expressions.tree(path) for path in self._workspace_files())
        return SyntaxReads(tree for tree in trees if tree is not None)

    def _workspace_files(self) -> Iterator[str]:
        for module in list(sys.modules.values()):
            file = getattr(module, "__dict__", {}).get("__file__")
            if isinstance(file, str) and not is_installed(file) and self._places.is_shown(os.path.realpath(file)):
                yield os.path.realpath(file)


def is_of_torch(cls: type) -> bool:
    """Return whether torch itself defines the class."""
    return cls.__module__.partition(".")[0] == "torch"


def _bases(cls: type) -> Iterator[type]:
    return (base for base in cls.__mro__ if base not in (torch.nn.Module, object))


def _subclasses(cls: type) -> Iterator[type]:
    if is_of_torch(cls):
        return
    subclasses: list[type] = type.__subclasses__(cls)
    for subclass in subclasses:
        yield subclass
        yield from _subclasses(subclass)


def _codes_of(cls: type) -> Iterator[CodeType]:
    for value in list(vars(cls).values()):
        yield from _codes_of_value(value)


def _codes_of_value(value: object) -> Iterator[CodeType]:
    """Yield the code of a method or property below decorators, with nested code."""
    for function in (value.fget, value.fset, value.fdel) if isinstance(value, property) else (value,):
        # functools.cached_property stores its function as ``func``.
        code = code_of(function) or code_of(getattr(function, "func", None))
        if code is not None:
            yield from codes_within(code)
