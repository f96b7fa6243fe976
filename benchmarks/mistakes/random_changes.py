"""Mistakes put into published models at random: one expression of a file of torchvision's models is another one.

An attribute or a function is misspelt, ``self.`` or the parentheses of a call are missing, an argument is too many, a
width in a constructor is another, ``return`` is missing, a dimension does not exist. An oracle runs the changed model
as plain Python does, with data: a change with which it still returns a tensor is none that can be reported, and does
not count; nor does a file that does not run unchanged.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from benchmarks.mistakes.broken_model import MARK, BrokenModel, Edit, Host, Mistake, Place
from benchmarks.mistakes.hosts import published_source

MODELS = {
    "resnet": "resnet18",
    "densenet": "densenet121",
    "mobilenetv2": "mobilenet_v2",
    "squeezenet": "squeezenet1_1",
    "shufflenetv2": "shufflenet_v2_x0_5",
    "mnasnet": "mnasnet0_5",
    "vgg": "vgg11",
    "efficientnet": "efficientnet_b0",
    "convnext": "convnext_tiny",
}
_ANYWHERE = ("width", "return", "not called")
"""Kinds that fail where the value is used, on another line."""


def random_changes(names: Iterable[str], count: int, seed: int) -> Iterator[BrokenModel]:
    """Yield models with a mistake, the same ones for a seed."""
    hosts = [Host("published", name, published_source(name), f"{MODELS[name]}()") for name in names]
    hosts = [host for host in hosts if not _fails(host.text, host)]
    choice = random.Random(seed)
    made = 0
    while made < count:
        host = choice.choice(hosts)
        mistakes = list(_mistakes(host.text))
        kind = choice.choice(sorted({mistake.kind for mistake in mistakes}))
        broken = host.broken(choice.choice([mistake for mistake in mistakes if mistake.kind == kind]))
        if _fails(broken.text, host):
            made += 1
            yield broken


def _mistakes(text: str) -> Iterator[Mistake]:
    """Yield every possible mistake. It is reported on the changed line, or where that is a related place."""
    lines = text.splitlines()
    for function in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)):
        for node in ast.walk(function):
            if not isinstance(node, (ast.expr, ast.Return)) or node.lineno != node.end_lineno:
                continue
            source = ast.get_source_segment(text, node) or ""
            line = lines[node.lineno - 1]
            for kind, changed in _changed(function.name, node, source):
                # Columns are bytes; these files are ASCII.
                new = line[: node.col_offset] + changed + line[node.end_col_offset :] + MARK
                place: Place = "anywhere" if kind in _ANYWHERE else "named line"
                edit = Edit(line, new, node.lineno)
                yield Mistake(kind, (edit,), ("FX4", "FX6", "FX903"), ("error", "warning"), place)


def _changed(function: str, node: ast.AST, source: str) -> Iterator[tuple[str, str]]:
    runs = function in ("forward", "_forward_impl", "_forward", "channel_shuffle")
    if isinstance(node, ast.Call) and runs and isinstance(node.func, ast.Attribute):
        owner = node.func.value
        called = ast.unparse(node.func)
        if isinstance(owner, ast.Name) and owner.id == "self":
            yield "attribute", source.replace(called, f"{called}x", 1)
            yield "no self", source.replace("self.", "", 1)
            yield "not called", called
            yield "argument too many", f"{source[:-1]}, 1)"
        elif isinstance(owner, ast.Name) and owner.id in ("torch", "F", "nn"):
            yield "function", source.replace(called, f"{called}x", 1)
            yield "dimension", re.sub(r", -?\d\)$", ", 7)", source)
    if isinstance(node, ast.Return) and runs and node.value is not None:
        yield "return", source.replace("return ", "", 1)
    if isinstance(node, ast.Call) and function == "__init__" and _is_layer(node.func) and node.args:
        first = ast.unparse(node.args[0])
        yield "width", source.replace(first, f"{first} + 1", 1)


def _is_layer(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr in ("Conv2d", "Linear", "BatchNorm2d")


def _fails(text: str, host: Host) -> bool:
    """Return whether the model raises, or returns no tensor, when plain Python runs it."""
    names: dict[str, Any] = {"__name__": "changed"}
    try:
        exec(compile(text, "changed.py", "exec"), names)
        model = names[MODELS[host.name]]().eval()
        with torch.no_grad():
            result = model(torch.randn(2, 3, 64, 64))
    except Exception:
        return True
    return not isinstance(result, torch.Tensor)
