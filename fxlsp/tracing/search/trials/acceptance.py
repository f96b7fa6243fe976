"""Which inputs of a model an operation has accepted, and which the first one that uses them refuses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from ...isolation.torch_private import tensors_in

_SOME: frozenset[int] = frozenset()


class InputAcceptance:
    """Follows the inputs of one run to the first operation that takes each beside another tensor.

    Such an operation says what an input has to be: a layer with its weights, a sum with a parameter. One that takes an
    input alone, as ``x.flatten(1)`` or ``x.relu()``, says little: what it returns counts as the input still.
    """

    def __init__(self, inputs: Iterable[Any]) -> None:
        given = list(tensors_in(inputs))
        self._accepted: set[int] = set()
        self._missing = set(range(len(given)))
        """Inputs, by number, that no operation has accepted."""
        self._sources = {id(tensor): (tensor, frozenset({number})) for number, tensor in enumerate(given)}
        """Of which inputs a tensor is made that no operation has accepted; with it, lest its id is used again."""

    def note(self, args: Iterable[Any], result: Any) -> None:
        """Note that an operation took ``args`` and returned ``result``."""
        if not self._missing:
            return
        operands = list(tensors_in(args))
        sources = self._of(operands)
        if not sources:
            return
        if len({id(operand) for operand in operands}) > 1:
            self._accepted |= sources
            self._missing -= sources
            return
        for tensor in tensors_in(result):
            self._sources[id(tensor)] = tensor, sources

    def is_refused(self, args: Iterable[Any] | None) -> bool:
        """Return whether a run that failed has not come past the first use of an input.

        Args:
            args: What the operation that raised was given; None if none raised, but Python.
        """
        if not self._accepted:
            return True
        return args is not None and not self._of(tensors_in(args)) <= self._accepted

    def _of(self, operands: Iterable[torch.Tensor]) -> frozenset[int]:
        return _SOME.union(*(self._sources[id(each)][1] for each in operands if id(each) in self._sources))
