"""What is called when a model is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch


def entry_of(model: torch.nn.Module) -> Callable[..., Any]:
    """``model.forward``, or the model's own ``__call__`` if it has no ``forward``."""
    if has_forward(model):
        forward = model.forward
        return _bound(forward) if isinstance(forward, torch.ScriptMethod) else forward
    return next(
        (vars(cls)["__call__"].__get__(model) for cls in _own_classes(model) if "__call__" in vars(cls)), model.forward
    )


def _bound(method: Callable[..., Any]) -> Callable[..., Any]:
    """``method`` with the signature of what is called: a ``script_method`` counts ``self``, to which it is bound."""
    written = getattr(method, "__wrapped__", None)
    if not inspect.isfunction(written):
        return method

    def entry(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **kwargs)

    entry.__signature__ = inspect.signature(written.__get__(method))  # type: ignore[attr-defined]
    return entry


def has_forward(model: torch.nn.Module) -> bool:
    """Whether the model, or one of its classes below ``nn.Module``, has a ``forward``."""
    return any("forward" in vars(owner) for owner in (model, *_own_classes(model)))


def _own_classes(model: torch.nn.Module) -> list[type]:
    return [cls for cls in type(model).__mro__ if cls not in (torch.nn.Module, object)]
