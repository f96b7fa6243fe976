"""Recording of an eager run: its operations, and each module call.

Operations are those that ``torch.fx`` could make nodes of; those inside modules that are leaves for ``torch.fx`` are
left out, as there. Gradients are recorded, as when a user calls the model; a batch of one may pass normalisation layers
in train mode, as fxlsp permits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from benchmarks.corpora.frames import running_lines

_TOUCHED = "_corpus_touched_by_input"


@dataclass
class Operation:
    """A torch function, or a call of a leaf module."""

    name: str
    """As of :func:`plain`; the class of a leaf module."""
    lines: int
    """Index in :attr:`EagerRun.stacks`."""
    shapes: list[list[int]]
    """Of the tensors that it returned."""
    touched: bool
    """Whether an input of the model had a part in it: everything else is constant for ``torch.fx``."""
    leaf: str | None = None
    """Path of the leaf module, "?" for one that is not registered; None for a function."""


@dataclass
class EagerRun:
    """One run, in the order in which operations ended and module calls began."""

    operations: list[Operation] = field(default_factory=list)
    calls: dict[str, list[list[list[int]]]] = field(default_factory=dict)
    """Shapes of the tensors that each call of a registered module returned, by its path."""
    stacks: list[list[tuple[str, int]]] = field(default_factory=list)
    """(file, line) of the running frames, innermost first."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def plain(name: str) -> str:
    """Return the plain name of an operation, however it is spelled.

    ``add`` for ``__iadd__``, ``__radd__`` and ``add_``.
    """
    bare = name.strip("_")
    if name.startswith("__") and bare[0] in "ri" and bare[1:] in _REFLECTED:
        bare = bare[1:]
    return _SAME.get(bare, bare)


_REFLECTED = {"add", "sub", "mul", "truediv", "div", "matmul", "pow", "mod", "floordiv", "and", "or", "xor"}
_SAME = {
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "inv": "invert",
    # ``2 > x`` is ``x < 2`` for the operand on the right.
    "gt": "lt",
    "ge": "le",
}


def shapes(value: Any) -> list[list[int]]:
    """Return the shapes of the tensors in nested containers, in order."""
    return [list(tensor.shape) for tensor in tensors(value)]


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors in nested containers."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)


def touch(value: Any) -> None:
    """Mark the tensors in ``value`` as touched by an input."""
    for tensor in tensors(value):
        setattr(tensor, _TOUCHED, True)


def is_touched(value: Any) -> bool:
    return any(hasattr(tensor, _TOUCHED) for tensor in tensors(value))


class _Log(TorchFunctionMode):
    """Mode that records torch functions outside leaf modules."""

    def __init__(self, run: EagerRun) -> None:
        super().__init__()
        self._run = run
        self._stacks: dict[tuple[tuple[str, int], ...], int] = {}
        self.inside_leaf = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.inside_leaf:
            return func(*args, **kwargs)
        touched = is_touched((args, kwargs))
        output = func(*args, **kwargs)
        if touched and not (_changes_first(func.__name__) and not is_touched(args[:1])):
            # A buffer that is changed in place does not become a proxy: for torch.fx it remains a constant.
            touch(output)
        self._run.operations.append(Operation(plain(func.__name__), self.stack(), shapes(output), touched))
        return output

    def stack(self) -> int:
        """Return the number of the present stack."""
        lines = tuple(running_lines(sys._getframe(1)))
        if lines not in self._stacks:
            self._stacks[lines] = len(self._run.stacks)
            self._run.stacks.append(list(lines))
        return self._stacks[lines]


def _changes_first(name: str) -> bool:
    return name == "__setitem__" or (name.endswith("_") and not name.endswith("__"))


def record_run(model: torch.nn.Module, run: EagerRun, call: Callable[[], Any]) -> None:
    """Fill ``run`` with what ``call`` does, up to where it raises."""
    log = _Log(run)
    with _recorded_module_calls(model, run, log), _batches_of_one(), log:
        call()


@contextmanager
def _recorded_module_calls(model: torch.nn.Module, run: EagerRun, log: _Log) -> Iterator[None]:
    """Patch the call of modules, as ``torch.fx`` does.

    No hook is visible to the model.
    """
    paths = {id(module): path for path, module in model.named_modules()}
    original: Any = torch.nn.Module.__call__

    def call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        if log.inside_leaf:
            return original(module, *args, **kwargs)
        path = paths.get(id(module), "?")
        outputs = run.calls.setdefault(path, [])
        outputs.append([])
        number = len(outputs) - 1
        leaf = module is not model and is_leaf(module)
        log.inside_leaf += leaf
        try:
            output = original(module, *args, **kwargs)
        finally:
            log.inside_leaf -= leaf
        outputs[number] = shapes(output)
        if leaf:
            run.operations.append(Operation(type(module).__name__, log.stack(), shapes(output), True, path))
            touch(output)
        return output

    torch.nn.Module.__call__ = call  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch.nn.Module.__call__ = original  # type: ignore[method-assign]


def is_leaf(module: torch.nn.Module) -> bool:
    """Return whether a module is a leaf by torch.fx's rule."""
    return torch.fx.Tracer().is_leaf_module(module, "")


@contextmanager
def _batches_of_one() -> Iterator[None]:
    """Turn off the checks for batches of one.

    Example inputs are small, training batches are not.
    """
    functional = torch.nn.functional
    checks = {name: getattr(functional, name) for name in ("_verify_batch_size", "_verify_spatial_size")}
    for name in checks:
        setattr(functional, name, lambda size: None)
    try:
        yield
    finally:
        for name, check in checks.items():
            setattr(functional, name, check)
