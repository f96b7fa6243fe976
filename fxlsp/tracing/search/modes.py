"""Models that want more of an input while they train than a search finds out, and that can be run in eval mode."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from types import CodeType

import torch

from .bodies import tree_of
from .failing_lines import Line
from .guesses import Trial


def read(trial: Trial, frames: Sequence[Line]) -> Iterator[Trial]:
    """The same in eval mode, if a function that failed goes another way then."""
    if not trial.evaluated and any(_depends_on_mode(frame.f_code) for frame, _ in frames):
        yield replace(trial, evaluated=True)


@lru_cache(maxsize=128)
def _depends_on_mode(code: CodeType) -> bool:
    if "training" not in code.co_names:
        return False
    tests = (node.test for node in ast.walk(tree_of(code)) if isinstance(node, (ast.If, ast.IfExp, ast.Assert)))
    return any(isinstance(part, ast.Attribute) and part.attr == "training" for test in tests for part in ast.walk(test))


@contextmanager
def in_mode_of(trial: Trial, model: torch.nn.Module) -> Iterator[None]:
    """While this lasts, ``model`` is in the mode in which ``trial`` runs it.

    Raises:
        TypeError: its ``eval()`` does not return it, so that no text says both.
    """
    before = [(module, module.training) for module in model.modules()] if trial.evaluated else []
    try:
        if trial.evaluated and model.eval() is not model:
            raise TypeError("eval() does not return the model")
        yield
    finally:
        for module, training in before:
            module.training = training
