"""Proof that a layer made with another number would run where it fails.

The layer is made anew with that number, and runs on the operands of each of its calls. That is a second run of exactly
what the number changes: of the graph before the layer it changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import torch
import torch.fx

from ....report.problems import FittingNumber
from ...isolation.torch_private import FakeTensor, tensors_in, tree_map
from ...isolation.torch_private.modules import batches_of_one
from ..building.construction import Constructions
from ..building.fake_tensors import new_fake_mode
from ..locations.code_origin import is_installed
from ..locations.source_map import SourceMap
from ..operations.fitting_numbers import LayerNumber, fitting_number, rebuilt
from ..operations.operation import Operation
from .interpreter import NodeValue, Trust, can_be_real
from .outputs import holds_unknown


class Refitting:
    """Layers of one graph that fail, each with the number that fits."""

    def __init__(
        self,
        values: Mapping[torch.fx.Node, NodeValue],
        modules: Mapping[str, torch.nn.Module],
        source_map: SourceMap,
        constructions: Constructions,
    ) -> None:
        self._values = values
        self._modules = modules
        self._source_map = source_map
        self._constructions = constructions

    def of(self, node: torch.fx.Node) -> FittingNumber | None:
        """Return the number with which the layer that a node calls takes its operands, proven by running it.

        None if the layer is not the only one that its expression makes, or something else uses what the layer holds:
        then the number would change more than this layer.
        """
        layer = self._modules.get(str(node.target)) if node.op == "call_module" else None
        value = self._values[node]
        if layer is None or value.mismatch is None or not value.mismatch.is_of_size or self._is_shared(node, layer):
            return None
        made = self._constructions.of(layer)
        if made is None or self._constructions.count_at(made) != 1:
            return None
        location = self._source_map.locate(made.code, made.offset)
        number = fitting_number(self._operation(node, layer))
        if number is None or is_installed(location.file) or not self._runs(node, layer, number):
            return None
        return FittingNumber(location, type(layer).__name__, number.argument, number.value, number.fitting, number.unit)

    def _is_shared(self, node: torch.fx.Node, layer: torch.nn.Module) -> bool:
        """Return whether anything but calls of the layer uses it or its parameters."""
        own = {id(parameter) for parameter in layer.parameters()}
        holders = [
            module
            for module in dict.fromkeys(self._modules.values())
            if any(id(each) in own for each in module.parameters(recurse=False))
        ]
        path = f"{node.target}."
        is_read = any(each.op == "get_attr" and f"{each.target}.".startswith(path) for each in node.graph.nodes)
        return is_read or holders not in ([layer], [])

    def _operation(self, node: torch.fx.Node, layer: torch.nn.Module) -> Operation:
        given = self._values[node].inputs
        count = len(node.args)
        return Operation(node.op, node.target, given[:count], dict(zip(node.kwargs, given[count:], strict=True)), layer)

    def _runs(self, node: torch.fx.Node, layer: torch.nn.Module, number: LayerNumber) -> bool:
        """Return whether the layer runs with the number wherever it is called.

        Operands that are assumed prove nothing: what they are depends on how the failure before them is repaired.
        """
        calls = [each for each in node.graph.nodes if each.op == "call_module" and self._layer(each) is layer]
        operations = [self._operation(each, layer) for each in calls if each in self._values]
        known = [(operation.args, operation.kwargs) for operation in operations]
        is_known = len(known) == len(calls) and not any(
            holds_unknown((*args, *kwargs.values())) for args, kwargs in known
        )
        if not is_known or any(self._trust(each) is not Trust.RUN for each in calls):
            return False
        is_real = not any(isinstance(each, FakeTensor) for each in tensors_in(known))
        with ExitStack() as stack:
            stack.enter_context(torch.random.fork_rng(devices=[]))
            stack.enter_context(torch.no_grad())
            stack.enter_context(batches_of_one())
            if not is_real:
                stack.enter_context(new_fake_mode())
            elif not can_be_real((known, dict(layer.state_dict()))):
                return False
            made = rebuilt(layer, number)
            try:
                for args, kwargs in known if made is not None else ():
                    assert made is not None
                    made(*tree_map(_copy, args), **tree_map(_copy, kwargs))
            except Exception:
                return False
        return made is not None

    def _layer(self, node: torch.fx.Node) -> torch.nn.Module | None:
        return self._modules.get(str(node.target))

    def _trust(self, node: torch.fx.Node) -> Trust:
        """Return the trust in the operands of a node."""
        return max((self._values[each].trust for each in node.all_input_nodes), default=Trust.RUN)


def _copy(value: Any) -> Any:
    """Return a tensor of the same shape in the mode that is active; other values unchanged."""
    if not isinstance(value, FakeTensor):
        return value.detach().clone() if isinstance(value, torch.Tensor) else value
    return torch.empty(tuple(value.shape), dtype=value.dtype, device="cpu")
