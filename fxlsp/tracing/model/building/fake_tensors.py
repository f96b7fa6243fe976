"""Fake tensors: construction and calls of models of any size without data.

Large tensors are fake, small ones real: construction code reads values of small tensors (``linspace(...).tolist()``),
and a 70-billion-parameter model must use no memory. Measured in the design: with ``FakeTensorMode`` alone only 47 of
torchvision's 80 classification models can be built, with this mixture all of them.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from ...isolation.replacement import replaced
from ...isolation.sandbox.accelerators import DevicesAreCpu, on_cpu
from ...isolation.torch_private import (
    FakeTensor,
    FakeTensorMode,
    Operator,
    TorchDispatchMode,
    never_grows,
    tensors_in,
    tree_map,
)
from ...isolation.torch_private.modules import conversion_replaced, converted
from .. import module_tree

SMALL = 65_536
"""Number of elements up to which a tensor is real while the model is built."""


class _Fakes(FakeTensorMode):  # type: ignore[no-untyped-call]
    """Fake mode that accepts ``uint8`` conditions, and is as fast with small real parameters as with fake ones.

    torch accepts such conditions with a warning, but its decompositions for fake tensors refuse them. Operands that are
    real beside fake ones are made fake before torch looks for the call in its cache, which it does not with real ones.
    """

    def __torch_dispatch__(self, func: Operator, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten.where.self and args[0].dtype == torch.uint8:
            args = (args[0].bool(), *args[1:])
        if torch.Tag.inplace_view not in getattr(func, "tags", ()):
            args = self._with_fake_operands(args)
        return super().__torch_dispatch__(func, types, args, kwargs or {})

    def _with_fake_operands(self, args: Any) -> Any:
        real = {number for number, argument in enumerate(args) if type(argument) in _PLAIN_TENSORS}
        if not real or not any(isinstance(argument, FakeTensor) for argument in args):
            return args
        return tuple(self.from_tensor(argument) if number in real else argument for number, argument in enumerate(args))


_PLAIN_TENSORS = (torch.Tensor, torch.nn.Parameter)


def new_fake_mode() -> FakeTensorMode:
    """Return a fake mode under which real tensors may be mixed with fake ones."""
    return _Fakes(allow_non_fake_inputs=True)


class OnCpu(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Dispatch mode that creates every tensor on the CPU, whichever device is named."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def __torch_dispatch__(
        self, func: Operator, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return func(*args, **on_cpu(kwargs or {}))


class SmallTensorsReal(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Dispatch mode in which small tensors are real and large ones fake.

    An operator runs on real tensors if it takes no fake tensor and its results have at most ``SMALL`` elements each.
    """

    def __init__(self, fake_mode: FakeTensorMode) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._fake_mode = fake_mode

    def __torch_dispatch__(
        self, func: Operator, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = on_cpu(kwargs or {})
        if self._is_small(func, args, kwargs):
            return func(*args, **kwargs)
        with self._fake_mode:
            return func(*args, **kwargs)

    def _is_small(self, func: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        tensors = tensors_in((args, kwargs))
        if any(isinstance(tensor, FakeTensor) for tensor in tensors):
            return False
        if tensors and never_grows(func):
            return sum(tensor.numel() for tensor in tensors) <= SMALL
        if not tensors and args and _is_size(args[0]):
            return bool(math.prod(args[0]) <= SMALL)
        with self._fake_mode:
            result = func(*tree_map(self.fake, args), **tree_map(self.fake, kwargs))
        return all(tensor.numel() <= SMALL for tensor in tensors_in(result))

    def fake(self, value: Any) -> Any:
        """Return a fake copy of a tensor; other values unchanged."""
        return _plain_fake(self._fake_mode, value)


def _is_size(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(size, int) for size in value)


def as_fake(mode: FakeTensorMode, value: Any) -> Any:
    """Return a tensor as a fake tensor on the CPU; other values unchanged.

    A parameter stays one, and a buffer too: modules accept and register what is assigned to them by that.
    """
    fake = _plain_fake(mode, value)
    if fake is value or not isinstance(value, torch.Tensor):
        return fake
    if isinstance(value, torch.nn.Parameter):
        return torch.nn.Parameter(fake.detach(), value.requires_grad)
    # torch 2.6 and later: ``torch.nn.Buffer`` marks a tensor by attributes.
    for name in _MARKS_OF_BUFFERS & vars(value).keys():
        setattr(fake, name, getattr(value, name))
    return fake


_MARKS_OF_BUFFERS = {"_is_buffer", "persistent"}


def _plain_fake(mode: FakeTensorMode, value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    fake: torch.Tensor = value if isinstance(value, FakeTensor) else mode.from_tensor(value.detach())
    if fake.device.type != "cpu":
        with mode:
            fake = torch.empty_like(fake, device="cpu")
    return fake.requires_grad_(value.requires_grad) if value.requires_grad else fake


@contextmanager
def fake_construction(mode: FakeTensorMode) -> Iterator[None]:
    """Make large tensors fake inside this context.

    ``torch.nn.init`` and ``Module.to`` are adapted.
    """
    with replaced(_skipped_init, active=True), DevicesAreCpu(), SmallTensorsReal(mode), conversions_rebind(mode):
        yield


@contextmanager
def real_construction(mode: FakeTensorMode) -> Iterator[None]:
    """Create tensors with data on the CPU inside this context."""
    with DevicesAreCpu(), OnCpu(), conversions_rebind(mode):
        yield


class _SkippedInit:
    active = False


_skipped_init = _SkippedInit()


def make_init_skippable() -> None:
    """Make ``torch.nn.init`` do nothing while a model is built without data.

    They return their tensor. Called once, before any package is imported that could keep references to the originals.
    """
    for name in dir(torch.nn.init):
        if name.endswith("_") and not name.startswith("_") and callable(getattr(torch.nn.init, name)):
            setattr(torch.nn.init, name, _skippable(getattr(torch.nn.init, name)))


_REFUSING_VECTORS = frozenset(
    {
        "dirac_",
        "eye_",
        "kaiming_normal_",
        "kaiming_uniform_",
        "orthogonal_",
        "sparse_",
        "xavier_normal_",
        "xavier_uniform_",
    }
)
"""Functions that refuse a tensor of less than two dimensions, such as a bias."""


def _skippable(init: Any) -> Any:
    # Not functools.wraps: torch.fx and inspect must not follow __wrapped__ to the original.
    refuses_vectors = init.__name__ in _REFUSING_VECTORS

    def initialise(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        is_skipped = _skipped_init.active and not (refuses_vectors and tensor.dim() < 2)
        return tensor if is_skipped else init(tensor, *args, **kwargs)

    initialise.__name__ = init.__name__
    initialise.__doc__ = init.__doc__
    # TorchScript cannot compile this function, and compiles the original instead.
    initialise.__prepare_scriptable__ = lambda: init  # type: ignore[attr-defined]
    return initialise


@contextmanager
def conversions_rebind(mode: FakeTensorMode) -> Iterator[None]:
    """Make ``Module.half()``, ``.to()``, ``.cuda()`` bind new parameters on the CPU.

    ``Module._apply`` swaps the data of parameters in place, which fake tensors forbid, and would initialise CUDA.
    """
    converter = _Conversions(mode)

    def _apply(self: torch.nn.Module, fn: Any, recurse: bool = True) -> torch.nn.Module:
        if recurse:
            for child in module_tree.children(self):
                converted(child, fn)
        for tensors in (self._parameters, self._buffers):
            for name, tensor in tensors.items():
                if tensor is not None:
                    tensors[name] = converter.convert(fn, tensor)  # type: ignore[assignment]
        return self

    with conversion_replaced(_apply):
        yield


class _Conversions:
    """Cache of one conversion of each tensor by each function.

    With it, tied parameters stay tied.
    """

    def __init__(self, mode: FakeTensorMode) -> None:
        self._mode = mode
        self._done: dict[int, tuple[Any, torch.Tensor, torch.Tensor]] = {}

    def convert(self, fn: Any, tensor: torch.Tensor) -> torch.Tensor:
        done = self._done.get(id(tensor))
        if done is not None and done[0] is fn and done[1] is tensor:
            return done[2]
        done = (fn, tensor, self._convert(fn, tensor))
        self._done[id(tensor)] = done
        return done[2]

    def _convert(self, fn: Any, tensor: torch.Tensor) -> torch.Tensor:
        if isinstance(tensor, (torch.nn.UninitializedParameter, torch.nn.UninitializedBuffer)):
            return tensor
        with self._mode:
            wanted = fn(as_fake(self._mode, tensor.detach()))
        if wanted.dtype == tensor.dtype and wanted.shape == tensor.shape:
            return tensor
        data = tensor.detach().to(dtype=wanted.dtype, device="cpu")
        if isinstance(tensor, torch.nn.Parameter):
            return torch.nn.Parameter(data, tensor.requires_grad)
        return data


class CopiesOfFakes(TorchFunctionMode):
    """Copies fake tensors, of which torch's own copy is refused: of their storage, which has no data.

    Transformers copy their layer for each further one. That of small tensors, which are real, is left to torch.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is not torch.Tensor.__deepcopy__ or not isinstance(args[0], FakeTensor) or not args[0].is_leaf:
            return func(*args, **(kwargs or {}))
        tensor, memo = args
        if id(tensor) not in memo:
            copied = tensor.detach().clone()
            if isinstance(tensor, torch.nn.Parameter):
                copied = torch.nn.Parameter(copied)
            memo[id(tensor)] = copied.requires_grad_(tensor.requires_grad)
            # What every fake tensor has is there already: a copy of its mode would be another mode.
            own = {name: value for name, value in vars(tensor).items() if name not in vars(copied)}
            vars(copied).update(copy.deepcopy(own, memo))
        return memo[id(tensor)]
