"""Inputs that an earlier search wrote, read back so that their sizes can be changed for a proof."""

from __future__ import annotations

import ast
import inspect
from dataclasses import replace

import torch

from ...model.building.forward_entry import forward_entry
from ..trials.values import DType, Group, Guess, Size, Tensor, Text

_DTYPES: dict[str, DType] = {"torch.float": "float", "torch.long": "long", "torch.bool": "bool"}


def written_inputs(text: str) -> Group:
    """Parse the arguments that an earlier search wrote."""
    call = ast.parse(f"_({text}\n)", mode="eval").body
    assert isinstance(call, ast.Call)
    args = [(f"argument_{index}", argument) for index, argument in enumerate(call.args)]
    named = [(f"{keyword.arg}=", keyword.value) for keyword in call.keywords]
    return Group("inputs", tuple((key, _guess_of(value)) for key, value in (*args, *named)))


def named_inputs(model: torch.nn.Module, given: Group) -> Group:
    """Return inputs by the names that the model's call has for them."""
    try:
        parameters = inspect.signature(forward_entry(model)).parameters.values()
    except (TypeError, ValueError):
        return given
    names = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    by_position = iter(names)
    items = tuple((key if key.endswith("=") else next(by_position, key), part) for key, part in given.items)
    return replace(given, items=items)


def _guess_of(value: ast.expr) -> Guess:
    """Return a tensor or number if that is what is written, else the text."""
    text = ast.unparse(value)
    for part in (_tensor_of(value), _size_of(value)):
        if part is not None and part.text == text:
            return part
    return Text(text)


def _tensor_of(value: ast.expr) -> Tensor | None:
    if not isinstance(value, ast.Call):
        return None
    try:
        sizes = [ast.literal_eval(argument) for argument in value.args]
    except ValueError:
        return None
    maker = ast.unparse(value.func)
    if maker == "torch.full" and len(sizes) == 2 and isinstance(sizes[0], tuple):
        return Tensor(sizes[0], "long", sizes[1])
    if maker not in ("torch.randn", "torch.ones"):
        return None
    dtypes = [ast.unparse(keyword.value) for keyword in value.keywords if keyword.arg == "dtype"]
    dtype = _DTYPES.get(dtypes[0]) if dtypes else "float"
    return None if dtype is None else Tensor(() if sizes == [()] else tuple(sizes), dtype)


def _size_of(value: ast.expr) -> Size | None:
    if isinstance(value, ast.Constant) and type(value.value) is int:
        return Size(value.value)
    return None
