"""Changes in place, after which a value is another than when a module was given it or returned it.

An operation may give a tensor another shape after the node that made it, ``x.unsqueeze_(1)``, and whoever is returned a
dictionary may put something else into it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch.fx


def copy_containers(value: Any) -> Any:
    """Return the value in containers of its own, whatever becomes of those that it is in."""
    if isinstance(value, list):
        return [copy_containers(item) for item in value]
    if type(value) is tuple:
        return tuple(copy_containers(item) for item in value)
    if isinstance(value, dict):
        return {name: copy_containers(item) for name, item in value.items()}
    return value


def last_change(node: torch.fx.Node, before: int, positions: Mapping[torch.fx.Node, int]) -> torch.fx.Node:
    """Return the node whose output is what ``node`` made, as it is ``before`` a place among the nodes: mostly itself."""
    changes = [user for user in node.users if _changes(user, node) and positions.get(user, before) < before]
    return last_change(changes[-1], before, positions) if changes else node


def _changes(user: torch.fx.Node, node: torch.fx.Node) -> bool:
    """torch's own naming: the names of operations in place end with one underscore."""
    name = user.target if isinstance(user.target, str) else getattr(user.target, "__name__", "")
    return user.args[:1] == (node,) and name.endswith("_") and not name.endswith("__")
