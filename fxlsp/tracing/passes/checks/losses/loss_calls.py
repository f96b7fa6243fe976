"""Calls of the losses of torch in a file that run whenever the code around them runs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from ..classics.loss_sizes import COMPARING
from ..classics.losses import LOSSES
from .file_names import FileNames, TextScope
from .value_origins import Frame, frames_of, origin_of

_CLASSES = ("torch.nn", "torch.nn.modules", "torch.nn.modules.loss")
_PASSING = (
    *(ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith),
    *(ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return),
    *(ast.BinOp, ast.UnaryOp, ast.Call, ast.keyword, ast.Attribute, ast.Tuple, ast.Dict),
)
"""Syntax that evaluates what is in it, whatever it was given."""


class LossCall(NamedTuple):
    """Call of a loss of torch."""

    loss: object
    """Function of ``torch.nn.functional``, or class of the module."""
    node: ast.Call
    given: ast.expr
    target: ast.expr | None
    frame: Frame


def named(losses: Collection[object]) -> Mapping[str, object]:
    """Return losses by their names."""
    return {getattr(each, "__name__", ""): each for each in losses}


def loss_calls(losses: Collection[object], names: FileNames) -> Iterator[LossCall]:
    """Yield the calls of losses beside ``forward``, without and with the arguments that their functions are given.

    What a branch calls is left out: whatever its condition tests may go with what the loss is given.
    """
    for scope in names.scopes.values():
        is_forward = scope.owner is not None and getattr(scope.node, "name", "") == "forward"
        calls = [] if is_forward else [each for each in scope.nodes if isinstance(each, ast.Call) and _first(each)]
        for frame in frames_of(scope, names) if calls else ():
            for call in calls:
                loss = _loss_of(call, frame, names, _PATHS)
                if loss in losses and _runs_always(call, scope, names):
                    given, target = _first(call), _argument(call, 1, "target")
                    if given is not None:
                        yield LossCall(loss, call, given, target, frame)


_PATHS: Mapping[str, object] = {
    f"{module}.{name}": loss
    for name, loss in named((*LOSSES, *COMPARING)).items()
    for module in (_CLASSES if isinstance(loss, type) else ("torch.nn.functional",))
}
"""Losses by their dotted paths.

Asking torch for what a text names would run code of torch, which may import or raise.
"""


def _loss_of(call: ast.Call, frame: Frame, names: FileNames, paths: Mapping[str, object]) -> object:
    """Return the loss that a call computes, as a function or as the class of a module."""
    path = names.imported(call.func, frame.scope)
    if path:
        function = paths.get(path)
        return None if isinstance(function, type) else function
    made = origin_of(call.func, frame, names, with_attributes=True)
    if made is None or not isinstance(made.node, ast.Call):
        return None
    kind = paths.get(names.imported(made.node.func, made.frame.scope))
    return kind if isinstance(kind, type) else None


def _first(call: ast.Call) -> ast.expr | None:
    return _argument(call, 0, "input")


def _argument(call: ast.Call, index: int, name: str) -> ast.expr | None:
    by_name = {each.arg: each.value for each in call.keywords}
    return call.args[index] if index < len(call.args) else by_name.get(name)


def _runs_always(call: ast.Call, scope: TextScope, names: FileNames) -> bool:
    """Return whether a call runs in each run of its function: no branch is around it, or before it and leaves."""
    node: ast.AST = call
    while node is not scope.node:
        around = names.parents[node]
        body: list[ast.stmt] = getattr(around, "body", [])
        if isinstance(node, ast.stmt) and (node not in body or any(map(_leaves, body[: body.index(node)]))):
            return False
        if around is not scope.node and not isinstance(around, _PASSING) and not _is_main(around):
            return False
        node = around
    return True


def _is_main(node: ast.AST) -> bool:
    """Return whether it is ``if __name__ == "__main__"``."""
    test = node.test if isinstance(node, ast.If) else None
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _leaves(statement: ast.stmt) -> bool:
    """Return whether a statement may end the function or the round of the loop that it is in."""
    waiting: list[tuple[ast.AST, bool]] = [(statement, False)]
    while waiting:
        node, is_in_loop = waiting.pop()
        if isinstance(node, ast.Return) or (isinstance(node, (ast.Break, ast.Continue)) and not is_in_loop):
            return True
        is_in_loop = is_in_loop or isinstance(node, (ast.For, ast.AsyncFor, ast.While))
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            waiting += [(each, is_in_loop) for each in ast.iter_child_nodes(node)]
    return False
