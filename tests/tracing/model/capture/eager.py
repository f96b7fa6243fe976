"""Recording of an eager run of a model: the reference for reports."""

from __future__ import annotations

import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_TORCH = os.path.join(os.path.dirname(torch.__file__), "")


@dataclass
class EagerRun:
    """Operations, leaf calls and module outputs of one eager run."""

    functions: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    """(file, line, name) of each torch function called outside leaf modules."""
    leaves: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    """(file, line) of each call of a leaf module, by its path."""
    shapes: dict[str, list[Any]] = field(default_factory=dict)
    """Shapes of what each call of a module returned, by its path."""


class _Log(TorchFunctionMode):
    def __init__(self, run: EagerRun) -> None:
        super().__init__()
        self._run = run
        self.inside_leaf = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not self.inside_leaf:
            self._run.functions[(*_user_line(), plain(func.__name__))] += 1
        return func(*args, **(kwargs or {}))


def plain(name: str) -> str:
    """Return one name for all spellings of an operation: ``add`` for ``__radd__`` and ``add_``."""
    bare = name.strip("_")
    if name.startswith("__") and bare[0] in "ri" and bare[1:] in _REFLECTED:
        return bare[1:]
    return {"truediv": "div", "floordiv": "floor_divide"}.get(bare, bare)


_REFLECTED = {"add", "sub", "mul", "truediv", "div", "matmul", "pow", "mod", "floordiv", "and", "or", "xor"}


def _user_line() -> tuple[str, int]:
    """Return the innermost running line outside torch and this file."""
    frame = sys._getframe(2)
    while frame.f_code.co_filename.startswith(_TORCH) or frame.f_code.co_filename == __file__:
        assert frame.f_back is not None
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def is_leaf(module: torch.nn.Module) -> bool:
    """Return whether torch.fx treats a module as a leaf."""
    return torch.fx.Tracer().is_leaf_module(module, "")


def run_eagerly(model: torch.nn.Module, *inputs: Any) -> EagerRun:
    """Run a model once and return what it did."""
    run = EagerRun()
    log = _Log(run)
    hooks = []
    for path, module in model.named_modules():
        leaf = is_leaf(module)

        def before(module: torch.nn.Module, args: Any, path: str = path, leaf: bool = leaf) -> None:
            if leaf:
                if not log.inside_leaf:
                    run.leaves.setdefault(path, []).append(_user_line())
                log.inside_leaf += 1

        def after(module: torch.nn.Module, args: Any, output: Any, path: str = path, leaf: bool = leaf) -> None:
            if leaf:
                log.inside_leaf -= 1
            run.shapes.setdefault(path, []).append(shapes(output))

        hooks += [module.register_forward_pre_hook(before), module.register_forward_hook(after)]
    with log, torch.no_grad():
        model(*inputs)
    for hook in hooks:
        hook.remove()
    return run


def shapes(value: Any) -> Any:
    """Return the shapes of the tensors in nested containers."""
    if isinstance(value, torch.Tensor):
        return list(value.shape)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: shapes(item) for name, item in value._asdict().items()}
    if isinstance(value, dict):
        return {name: shapes(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [shapes(item) for item in value]
    return None


def shapes_of_output(output: dict[str, Any] | None) -> Any:
    """Return the shapes of the tensors in a report's OUTPUT."""
    if output is None:
        return "unknown"
    if "shape" in output:
        return output["shape"]
    if "dict" in output:
        return {name: shapes_of_output(item) for name, item in output["dict"].items()}
    if "list" in output:
        return [shapes_of_output(item) for item in output["list"]]
    return None
