"""Which node each tensor comes from, where operations run on the tensors themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.fx

Getitem = Callable[[torch.fx.Node, Any, Any], torch.fx.Node]
"""Makes the node of an item: of the container's node, the key and the item's value."""


class NodeTensors:
    """Tensors by identity, with the node that produced each last."""

    def __init__(self, getitem: Getitem) -> None:
        self._getitem = getitem
        self._nodes: dict[int, tuple[torch.Tensor, torch.fx.Node]] = {}

    def node_of(self, tensor: torch.Tensor) -> torch.fx.Node | None:
        """The node that produced ``tensor``; None for one that came from elsewhere."""
        known = self._nodes.get(id(tensor))
        return None if known is None else known[1]

    def produced(self, node: torch.fx.Node, value: Any) -> None:
        """Remember that ``node`` produced the tensors in ``value``; those in containers get nodes of their own."""
        if isinstance(value, torch.Tensor):
            self._nodes[id(value)] = (value, node)
        elif isinstance(value, Mapping):
            for key, item in value.items():
                self._item(node, key, item)
        elif isinstance(value, (list, tuple)):
            for index, item in enumerate(value):
                self._item(node, index, item)

    def _item(self, node: torch.fx.Node, key: Any, item: Any) -> None:
        if isinstance(item, (torch.Tensor, Mapping, list, tuple)) and isinstance(key, (int, str)):
            self.produced(self._getitem(node, key, item), item)

    def forget(self, nodes: set[torch.fx.Node]) -> None:
        """Forget what erased nodes produced."""
        self._nodes = {key: known for key, known in self._nodes.items() if known[1] not in nodes}
