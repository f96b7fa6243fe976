"""Changes in place of values between the nodes of a graph.

An operation may change the shape of a tensor after the node that made it, ``x.unsqueeze_(1)``, and a caller may change
a dictionary that a module returned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch.fx


def copy_containers(value: Any) -> Any:
    """Return a value with copies of its containers.

    Later changes of the containers do not affect it.
    """
    # By type, because a proxy may answer ``isinstance`` for its value, and every use of it becomes a node.
    kind = type(value)
    if issubclass(kind, list):
        return [copy_containers(item) for item in value]
    if kind is tuple:
        return tuple(copy_containers(item) for item in value)
    if issubclass(kind, dict):
        return {name: copy_containers(item) for name, item in value.items()}
    return value


def last_change(node: torch.fx.Node, before: int, positions: Mapping[torch.fx.Node, int]) -> torch.fx.Node:
    """Return the last node that changed the output of a node in place, or itself.

    Only nodes before the index ``before`` count.
    """
    changes = [user for user in node.users if _changes(user, node) and positions.get(user, before) < before]
    return last_change(changes[-1], before, positions) if changes else node


def _changes(user: torch.fx.Node, node: torch.fx.Node) -> bool:
    """Return whether ``user`` changes ``node`` in place.

    By torch's convention, its name ends with one underscore.
    """
    name = user.target if isinstance(user.target, str) else getattr(user.target, "__name__", "")
    return user.args[:1] == (node,) and name.endswith("_") and not name.endswith("__")
