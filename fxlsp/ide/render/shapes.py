"""Values of nodes as text: ``(1, 64, 56, 56)``.

A list and a tuple of tensors read alike, since a report does not distinguish them: ``(2, 7, 16), 2 × (1, 2, 16)``,
with brackets only where unequal items are inside another value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from fxlsp.report.graph import Output
from fxlsp.report.symbolic_sizes import DATA_SYMBOL

Style = Literal["symbolic", "numbers", "both"]
"""Whether dimensions are written as expressions of symbols, as numbers, or as both."""

UNKNOWN = "unknown"

_SHOWN_ITEMS = 3
"""How many items of a list or dictionary are written out."""
_WIDTH = 40
"""Longest symbolic shape in characters; of a longer one the longest expressions are written as numbers."""


def output_text(
    output: Output | None,
    usual_dtype: str | None = None,
    style: Style = "numbers",
    *,
    width: int | None = None,
    is_part: bool = False,
) -> str:
    """Return the text of an output: a shape, the parts of a container, or a value.

    Args:
        usual_dtype: the dtype that is left out after a shape; None leaves out every dtype.
        style: how dimensions are written; where no expression is known, as numbers.
        width: length in characters up to which items of a container are written out, at least one.
        is_part: whether the text is one of several in a row, so that tensors of different shapes need brackets.
    """
    if output is None:
        return UNKNOWN
    if "shape" in output:
        shape = _shape_text(output, style)
        return shape if output["dtype"] == usual_dtype or usual_dtype is None else f"{shape} {output['dtype']}"
    if "list" in output and style == "both":
        symbolic = output_text(output, usual_dtype, "symbolic", width=width, is_part=is_part)
        numbers = output_text(output, usual_dtype, "numbers", width=width, is_part=is_part)
        return symbolic if symbolic == numbers else f"{symbolic} = {numbers}"
    if "list" in output:
        items = [output_text(item, usual_dtype, style, is_part=True) for item in output["list"]]
        return _tensors_text(items, width, is_part) if holds_tensor(output) else _values_text(items, width)
    if "dict" in output:
        parts = output["dict"].items()
        return _dict_text({name: output_text(item, usual_dtype, style, is_part=True) for name, item in parts}, width)
    if "value" in output:
        return repr(output["value"])
    return str(output.get("type", UNKNOWN))


def inputs_text(inputs: Sequence[Output | None], usual_dtype: str | None = None) -> str:
    """Return a call's arguments that are unknown or hold a tensor; "" if none does."""
    shown = [each for each in inputs if each is None or holds_tensor(each)]
    return ", ".join(output_text(each, usual_dtype, is_part=True) for each in shown)


def flow_text(inputs: Sequence[Output | None], output: Output | None, usual_dtype: str | None = None) -> str:
    """Return ``(1, 3, 224, 224) → (1, 64, 112, 112)``.

    If no tensor goes in, the output alone.
    """
    entering = inputs_text(inputs, usual_dtype)
    leaving = output_text(output, usual_dtype)
    return f"{entering} → {leaving}" if entering else leaving


def holds_tensor(output: Output | None) -> bool:
    """Return whether there is a tensor in ``output``, at any depth."""
    return next(dtypes(output), None) is not None


def dtypes(output: Output | None) -> Iterator[str]:
    """Yield the dtype of every tensor in ``output``, in order."""
    if output is None:
        return
    if "shape" in output:
        yield output["dtype"]
    for item in output.get("list", ()):
        yield from dtypes(item)
    for item in output.get("dict", {}).values():
        yield from dtypes(item)


def symbolic_text(output: Output | None) -> str:
    """Return ``(B, 64, (H+1)//2)`` for a tensor of which an expression is known; else ""."""
    return "" if output is None or "symbolic" not in output else _tuple_text(output["symbolic"])


def symbols_in(output: Output | None, symbols: Mapping[str, int | None]) -> Mapping[str, int | None]:
    """Return those of a report's symbols that occur in the expressions of a tensor, with their values."""
    dims = () if output is None else output.get("symbolic", ())
    used = {name for dim in dims if isinstance(dim, str) for name in re.findall(r"[A-Za-z_]\w*", dim)}
    return {name: value for name, value in symbols.items() if name in used}


def symbol_facts(symbols: Mapping[str, int | None]) -> str:
    """Return ``for B = 2; u0 depends on data``: the values of symbols in the trace; "" if there are none."""
    values = ", ".join(f"{name} = {value}" for name, value in symbols.items() if value is not None)
    by_data = [name for name, value in symbols.items() if value is None]
    verb = "depends" if len(by_data) == 1 else "depend"
    facts = [f"for {values}"] * bool(values) + [f"{', '.join(by_data)} {verb} on data"] * bool(by_data)
    return "; ".join(facts)


def _shape_text(output: Output, style: Style) -> str:
    if "symbolic" not in output:
        return _tuple_text(output["shape"])
    dims: list[Any] = list(output["symbolic"])
    # A size that depends on data is none of the trace's facts.
    pairs = zip(dims, output["shape"], strict=True)
    numbers = _tuple_text([dim if DATA_SYMBOL.search(str(dim)) else size for dim, size in pairs])
    if style == "numbers":
        return numbers
    by_length = sorted((at for at, dim in enumerate(dims) if isinstance(dim, str)), key=lambda at: len(dims[at]))
    while len(_tuple_text(dims)) > _WIDTH and by_length:
        longest = by_length.pop()
        dims[longest] = output["shape"][longest]
    symbolic = _tuple_text(dims)
    return symbolic if style == "symbolic" or symbolic == numbers else f"{symbolic} = {numbers}"


def _tuple_text(sizes: Sequence[int | str]) -> str:
    inside = ", ".join(map(str, sizes))
    return f"({inside},)" if len(sizes) == 1 else f"({inside})"


def _tensors_text(items: Sequence[str], width: int | None, is_part: bool) -> str:
    if len(set(items)) == 1:
        return f"{len(items)} × {items[0]}"
    shown = ", ".join(_cut(items, width))
    return f"[{shown}]" if is_part else shown


def _values_text(items: Sequence[str], width: int | None) -> str:
    if len(items) > _SHOWN_ITEMS and len(set(items)) == 1:
        return f"{len(items)} × {items[0]}"
    return "[" + ", ".join(_cut(items, width)) + "]"


def _dict_text(items: dict[str, str], width: int | None) -> str:
    return "{" + ", ".join(_cut([f"{name}: {text}" for name, text in items.items()], width)) + "}"


def _cut(items: Sequence[str], width: int | None) -> list[str]:
    shown = len(items) if len(items) <= _SHOWN_ITEMS + 1 else _SHOWN_ITEMS
    while width is not None and shown > 1 and len(", ".join(items[:shown])) > width:
        shown -= 1
    return list(items) if shown == len(items) else [*items[:shown], f"… {len(items) - shown} more"]
