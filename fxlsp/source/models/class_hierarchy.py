"""The module classes of a file: all subclasses of ``torch.nn.Module``."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Callable, Container, Iterable, Mapping

from fxlsp.source.python.class_statements import ClassStatement, enclosing_prefixes
from fxlsp.source.python.imports import ImportedNames
from fxlsp.source.text.class_kind import ClassKind

_TORCH_MODULE = re.compile(
    r"torch\.(ao\.)?nn\.(?!utils\.)(\w+\.)*[A-Z]\w*|torch\.jit\.ScriptModule|torch\.fx\.GraphModule"
)
_TORCH_TENSOR = re.compile(r".*\.(Uninitialized)?(Parameter|Buffer)")
_NOT_A_MODULE = re.compile(
    r"torch\.(autograd|optim|utils\.data|distributions|nn)\..*|torchvision\.models\.(\w+\.)*Weights(Enum)?"
)
_LIBRARY_MODULE = re.compile(
    r"(torchvision\.(models|ops)|timm\.(models|layers))\.(\w+\.)*[A-Z]\w*(?<!Weights)(?<!WeightsEnum)(?<!Config)(?<!Cfg)"
    r"|transformers\.(\w+\.)*([A-Z]\w*Model|\w+For[A-Z]\w+)"
)
"""Library classes that users subclass. Functions of these packages start with a lower-case letter."""
_MODULE_SUFFIXES = ("LightningModule", "PreTrainedModel")
"""Suffixes of the base classes of Lightning and transformers, wherever they are imported from."""


def external_kind(full_name: str | None) -> ClassKind:
    """Return the kind of a class that another file defines.

    Args:
        full_name: its dotted name; None for a name that nothing in the file binds.
    """
    if full_name is None:
        return ClassKind.UNKNOWN
    if is_torch_module(full_name) or full_name.endswith(_MODULE_SUFFIXES) or _LIBRARY_MODULE.fullmatch(full_name):
        return ClassKind.MODULE
    if _NOT_A_MODULE.fullmatch(full_name) or full_name.partition(".")[0] in sys.stdlib_module_names:
        return ClassKind.OTHER
    return ClassKind.UNKNOWN


def is_torch_module(full_name: str) -> bool:
    """Return whether this is the full name of a module class of torch."""
    return _TORCH_MODULE.fullmatch(full_name) is not None and _TORCH_TENSOR.fullmatch(full_name) is None


def module_classes(
    classes: Iterable[ClassStatement],
    imports: ImportedNames,
    takes_inputs: Callable[[ClassStatement], bool],
    external_kinds: Mapping[str, ClassKind],
) -> frozenset[str]:
    """Return the qualified names of the classes that are modules.

    A class with an unknown base is one if it ``takes_inputs``: if it has a method ``forward(self, ...)``.

    Args:
        external_kinds: kinds of base classes that other files define, by their names in this file.
    """
    classes = tuple(classes)
    defined = frozenset(each.qualname for each in classes)
    kinds: dict[str, ClassKind] = dict.fromkeys(defined, ClassKind.OTHER)
    changed = True
    while changed:
        changed = False
        for each in classes:
            kind = _kind(each, kinds, imports, external_kinds)
            if kind is ClassKind.UNKNOWN and takes_inputs(each):
                kind = ClassKind.MODULE
            if _stronger(kind, kinds[each.qualname]):
                kinds[each.qualname] = kind
                changed = True
    return frozenset(name for name, kind in kinds.items() if kind is ClassKind.MODULE)


def _kind(
    statement: ClassStatement,
    kinds: dict[str, ClassKind],
    imports: ImportedNames,
    external_kinds: Mapping[str, ClassKind],
) -> ClassKind:
    """Return the strongest kind among the bases, according to ``kinds`` so far."""
    result = ClassKind.OTHER
    for base in statement.bases:
        defined = defined_class(base, statement.qualname.rpartition(".")[0], kinds.keys() - {statement.qualname})
        kind = kinds[defined] if defined is not None else external_kinds.get(base) or _imported_kind(base, imports)
        if _stronger(kind, result):
            result = kind
    return result


def _imported_kind(base: str, imports: ImportedNames) -> ClassKind:
    full_name = imports.resolve(base) if base else None
    if full_name is None and base in vars(builtins):
        return ClassKind.OTHER
    return external_kind(full_name or base or None)


_STRENGTH = {ClassKind.OTHER: 0, ClassKind.UNKNOWN: 1, ClassKind.MODULE: 2}


def _stronger(one: ClassKind, other: ClassKind) -> bool:
    return _STRENGTH[one] > _STRENGTH[other]


def defined_class(name: str, scope: str, defined: Container[str]) -> str | None:
    """Return the qualified name of the class that ``name`` means in ``scope``.

    None if it is not among those ``defined``.
    """
    for prefix in enclosing_prefixes(scope) if scope else [""]:
        if prefix + name in defined:
            return prefix + name
    return None
