"""Operations in place, which may give a tensor another shape after the node that made it: ``x.unsqueeze_(1)``."""

from __future__ import annotations

from collections.abc import Mapping

import torch.fx


def last_change(node: torch.fx.Node, before: int, places: Mapping[torch.fx.Node, int]) -> torch.fx.Node:
    """The node whose output is what ``node`` made, as it is ``before`` a place among the nodes: mostly itself."""
    changes = [user for user in node.users if _changes(user, node) and places.get(user, before) < before]
    return last_change(changes[-1], before, places) if changes else node


def _changes(user: torch.fx.Node, node: torch.fx.Node) -> bool:
    """torch's own naming: the names of operations in place end with one underscore."""
    name = user.target if isinstance(user.target, str) else getattr(user.target, "__name__", "")
    return user.args[:1] == (node,) and name.endswith("_") and not name.endswith("__")
