"""Nodes whose name reads as the path of another module (FX207).

``l_1`` is the second call of ``l``, while there is a module ``l_1`` too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import torch

from .....report.codes import MISLEADING_NAME
from .....report.problems import Problem
from ....model import module_tree
from ..base.check import Check
from ..base.pass_result import PassResult

_NOT_IN_NAMES = re.compile("[^0-9a-zA-Z_]+")
_WORD_START = re.compile("(?<=[a-z])([A-Z])")


class NodeNames(Check):
    """Check for node names that FX would derive from the path of another module."""

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        renamed = []
        for node in traced.tracer.graph.nodes:
            if node.op != "call_module":
                continue
            if node.name != node_name(str(node.target)):
                renamed.append(node)
            elif node.name != node.target and node.name in traced.root._modules:
                # ``a.b`` and ``a_b``: only the second may be taken for its name.
                yield self._misleading(node, node.name, traced)
        paths = (
            {node_name(path): path for path, _ in reversed(list(module_tree.named_modules(traced.root)))}
            if renamed
            else {}
        )
        for node in renamed:
            other = paths.get(node.name)
            if other is not None:
                yield self._misleading(node, other, traced)

    def _misleading(self, node: torch.fx.Node, other: str, traced: PassResult) -> Problem:
        return traced.problem(
            MISLEADING_NAME,
            f"The node of this call of {node.target} is named {node.name}, which reads as the module {other}.",
            traced.problem_location(traced.tracer.origins[node].call_stack),
            str(node.target),
        )


def node_name(path: str) -> str:
    """Return the name that FX gives the first call of a module in an empty graph."""
    name = path.replace(".", "_")
    if not name.isidentifier() or name != name.lower():
        name = _NOT_IN_NAMES.sub("_", _WORD_START.sub(r"_\1", path).lower())
    return f"_{name}" if name[:1].isdigit() else name
