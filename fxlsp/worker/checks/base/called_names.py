"""By which of its names a module was called, as the text of the call says it."""

from __future__ import annotations

import ast

import torch

from ...locations.source_map import Instruction
from ...plain_pass.tracer import TracedCall
from .call_tree import CallSite
from .module_names import ModuleNames, joined
from .pass_result import Traced

_Step = str | int


def called_names(traced: Traced, names: ModuleNames, call: TracedCall, site: CallSite) -> tuple[str, ...]:
    """The names of a module that a call of it means; empty where its text does not tell.

    Several where the module whose attribute is called has several names itself: ``self.lin(x)`` in the ``forward`` of a
    module that is both ``a`` and ``b`` means ``a.lin`` as much as ``b.lin``.
    """
    callee = _callee(traced, call.call_stack[-1]) if call.call_stack else None
    if callee is not None:
        name, steps = callee
        start = site.variables.get(name)
        if start is not None and steps:
            below = _path_below(start, steps)
            if below is not None and below[1] is call.module:
                return tuple(joined(path, below[0]) for path in names.of(start))
    return _noted_name(names, call)


def _callee(traced: Traced, instruction: Instruction) -> tuple[str, list[_Step]] | None:
    """``self.blocks[0].lin(x)`` as ``self`` and the steps from there; None for any other expression."""
    node = traced.places.syntax_of(instruction)
    steps: list[_Step] = []
    expression = node.func if isinstance(node, ast.Call) else None
    while True:
        match expression:
            case ast.Attribute(value=value, attr=name):
                steps.append(name)
            case ast.Subscript(value=value, slice=ast.Constant(value=str() | int() as index)):
                steps.append(index)
            case ast.Subscript(value=value, slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(index)))):
                steps.append(-index)
            case ast.Name(id=name):
                return name, steps[::-1]
            case _:
                return None
        expression = value


def _path_below(module: torch.nn.Module, steps: list[_Step]) -> tuple[str, torch.nn.Module] | None:
    """The path that ``steps`` lead along, and the module at its end; None where one of them leads to no child."""
    path = ""
    for step in steps:
        name = _child_name(module, step)
        child = module._modules.get(name)
        if child is None:
            return None
        path, module = joined(path, name), child
    return path, module


def _child_name(module: torch.nn.Module, step: _Step) -> str:
    """The name that an attribute, a key or an index of a container stands for; "" for an index out of range."""
    if isinstance(step, str):
        return step
    children = list(module._modules)
    return children[step] if -len(children) <= step < len(children) else ""


def _noted_name(names: ModuleNames, call: TracedCall) -> tuple[str, ...]:
    """The name that the tracer worked out from the attributes that were read, unless a module above explains it."""
    here, known = call.call_path, call.module_path
    if here is None or here == known:
        return () if here is None else (here,)
    while here.rpartition(".")[2] == known.rpartition(".")[2]:
        here, known = here.rpartition(".")[0], known.rpartition(".")[0]
        if names.at(here) is names.at(known):
            return (call.module_path,)
    return (call.call_path,) if call.call_path is not None else ()
