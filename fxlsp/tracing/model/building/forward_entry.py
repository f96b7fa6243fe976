"""The function that runs when a model is called, with its signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch


def forward_entry(model: torch.nn.Module) -> Callable[..., Any]:
    """Return ``model.forward``, or the model's ``__call__`` if it has none."""
    if has_forward(model):
        forward = model.forward
        return _bound(forward) if isinstance(forward, torch.ScriptMethod) else forward
    return next(
        (vars(cls)["__call__"].__get__(model) for cls in _own_classes(model) if "__call__" in vars(cls)), model.forward
    )


def _bound(method: Any) -> Callable[..., Any]:
    """Return a scripted method with the signature of its calls.

    The signature of the method itself includes ``self``, or is missing if the method was traced.
    """
    written = getattr(method, "__wrapped__", None)

    def entry(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **kwargs)

    signature = inspect.signature(written.__get__(method)) if inspect.isfunction(written) else _compiled(method)
    entry.__signature__ = signature  # type: ignore[attr-defined]
    return entry


def _compiled(method: Any) -> inspect.Signature:
    """Return the TorchScript signature of a method, without ``self``."""
    _, *arguments = method.schema.arguments
    return inspect.Signature(
        [
            inspect.Parameter(
                argument.name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=argument.default_value if argument.has_default_value() else inspect.Parameter.empty,
            )
            for argument in arguments
        ]
    )


def has_forward(model: torch.nn.Module) -> bool:
    """Return whether a model or a class of it below ``nn.Module`` has a ``forward``."""
    return any("forward" in vars(owner) for owner in (model, *_own_classes(model)))


def _own_classes(model: torch.nn.Module) -> list[type]:
    return [cls for cls in type(model).__mro__ if cls not in (torch.nn.Module, object)]
