"""Number of samples that a model was traced with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fxlsp.report.graph import Node, Output
from fxlsp.report.report import Report

_LAYER = re.compile(
    r"(?:Lazy)?(?:Conv|ConvTranspose|BatchNorm|MaxPool|AvgPool|AdaptiveAvgPool|AdaptiveMaxPool)([123])d"
)
"""Layers whose input begins with the batch where it has two dimensions more than their name says."""


def batch_size(report: Report) -> int | None:
    """Return the first size of all inputs and results of a model, if a layer treats it as the batch.

    None if that is unknown: the first dimension of a sequence may be its length.
    """
    inputs = [node.output for node in report.nodes if node.op == "placeholder"]
    results = [node.inputs for node in report.nodes if node.op == "output"]
    tensors = [*_tensors(inputs), *_tensors([each for result in results for each in result])]
    sizes = {shape[0] if shape else None for shape in tensors}
    if not inputs or not results or len(sizes) != 1:
        return None
    (size,) = sizes
    return size if size is not None and any(_is_batch_of(node, size) for node in report.nodes) else None


def _is_batch_of(node: Node, size: int) -> bool:
    layer = _LAYER.fullmatch(node.module_type or "") if node.op == "call_module" else None
    shape = next(_tensors(node.inputs[:1]), None)
    return layer is not None and shape is not None and len(shape) == int(layer[1]) + 2 and shape[0] == size


def _tensors(outputs: list[Output | None] | tuple[Output | None, ...]) -> Iterator[list[int]]:
    for output in outputs:
        if output is None:
            continue
        if "shape" in output:
            yield output["shape"]
        elif "list" in output:
            yield from _tensors(output["list"])
        elif "dict" in output:
            yield from _tensors(list(output["dict"].values()))
