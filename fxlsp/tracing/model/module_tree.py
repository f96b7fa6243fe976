"""Modules, parameters and buffers below a module, whatever attributes its class names after methods of ``nn.Module``.

``self.modules = [...]`` or ``self.parameters = {...}`` hides the method of that name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import torch

_USED_BY_TRACER = ("named_modules", "named_children", "_get_name")
"""Methods that torch.fx calls before it runs a ``forward`` or a graph."""


def methods_visible(root: object) -> ExitStack:
    """Hide attributes that are named as the methods that torch.fx calls, until the result is closed."""
    hidden = ExitStack()
    for module in modules(root) if isinstance(root, torch.nn.Module) else ():
        attributes = vars(module)
        for name in _USED_BY_TRACER:
            if name in attributes:
                hidden.callback(attributes.__setitem__, name, attributes.pop(name))
    return hidden


def named_modules(root: torch.nn.Module, remove_duplicate: bool = True) -> Iterator[tuple[str, torch.nn.Module]]:
    """Yield each module with its path, ``root`` first, as ``Module.named_modules`` does."""
    yield from _named_modules(root, "", set(), remove_duplicate)


def _named_modules(
    module: torch.nn.Module, path: str, seen: set[torch.nn.Module], remove_duplicate: bool
) -> Iterator[tuple[str, torch.nn.Module]]:
    if module in seen:
        return
    if remove_duplicate:
        seen.add(module)
    yield path, module
    for name, child in module._modules.items():
        if child is not None:
            yield from _named_modules(child, f"{path}.{name}" if path else name, seen, remove_duplicate)


def modules(root: torch.nn.Module) -> Iterator[torch.nn.Module]:
    """Yield ``root`` and every module below it once."""
    yield from (module for _, module in named_modules(root))


def children(module: torch.nn.Module) -> Iterator[torch.nn.Module]:
    """Yield each direct child once."""
    yield from dict.fromkeys(child for child in module._modules.values() if child is not None)


def named_parameters(root: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Parameter]]:
    """Yield each parameter once, with its first path."""
    return _named(root, "_parameters")


def parameters(root: torch.nn.Module) -> Iterator[torch.nn.Parameter]:
    """Yield each parameter once."""
    yield from (parameter for _, parameter in named_parameters(root))


def named_buffers(root: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield each buffer once, with its first path."""
    return _named(root, "_buffers")


def _named(root: torch.nn.Module, table: str) -> Iterator[tuple[str, Any]]:
    seen: set[int] = set()
    for path, module in named_modules(root):
        for name, tensor in getattr(module, table).items():
            if tensor is not None and id(tensor) not in seen:
                seen.add(id(tensor))
                yield f"{path}.{name}" if path else name, tensor


def buffers(root: torch.nn.Module) -> Iterator[torch.Tensor]:
    """Yield each buffer once."""
    yield from (buffer for _, buffer in named_buffers(root))


def elements(root: torch.nn.Module) -> int:
    """Return the number of elements of all parameters whose shape is known."""
    uninitialised = torch.nn.parameter.UninitializedParameter
    return sum(each.numel() for each in parameters(root) if not isinstance(each, uninitialised))
