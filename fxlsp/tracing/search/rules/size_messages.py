"""Sizes that have to agree, by the message of the error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from math import prod

from ..evidence import Evidence
from ..priors.tables import BATCH
from ..size_edits import divisible, equalised, resized, with_edges_times
from ..trials.values import (
    Edit,
    Trial,
    init_numbers,
    input_tensors,
    number_of,
    tensors,
    with_dimension,
    with_number,
)
from .registry import message_rule

_SMALL = 96
"""A size that most divisors leave something of: smaller ones of constructors may be too small."""


@message_rule(
    "two sizes, as wanted and given",
    r"[Ss]ize of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)",
    r"must be equal to input_size\. Expected \[?(\d+)\]?, got \[?(\d+)\]?",
    r"embedding dimension of \[?(\d+)\]?, but got \[?(\d+)\]?",
    r"[Ee]xpected size \[?(\d+)\]? but got size \[?(\d+)\]?",
    r"[Ee]xpected(?:[^\d\[]*)\[?(\d+)\]?[^\d\[]*got[^\d\[]*\[?(\d+)\]?",
    r"has size (\d+) for operand \d+ which does not broadcast with previously seen size (\d+)",
    r"to have (\d+) channels, but got (\d+) channels",
    r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)",
    r"[Aa]ttempting to broadcast.*?(\d+).*?(\d+)\]?\D*$",
    r"[Ss]hape mismatch, (\d+) != (\d+)",
)
def _wanted_and_given(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Make two sizes of a message equal, of which the first is wanted."""
    one, other = (int(number) for number in match.groups())
    yield from equalised(evidence.trial, other, one)


@message_rule("edge that is divided", r"can't divide axis of length (\d+) in chunks of (\d+)")
def _divided(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give a map edges that become multiples of what einops divides an axis by, or a dimension one."""
    length, chunk = (int(number) for number in match.groups())
    for times in dict.fromkeys((max(length // chunk, 1), 1, 2)):
        yield from with_edges_times(evidence.trial, times * chunk, length)
    yield from divisible(evidence.trial, length, chunk)


@message_rule("two shapes", r"\((\d[\d, ]*)\) != \((\d[\d, ]*)\)")
def _shapes(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Make two shapes of a message equal."""
    one, other = (tuple(int(number) for number in re.findall(r"\d+", group)) for group in match.groups())
    for old, new in ((other, one), (one, other)):
        yield from ({path: replace(each, shape=new)} for path, each in tensors(evidence.trial) if each.shape == old)


@message_rule("index that is there", r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)")
def _index(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give a tensor as many of what an index asks for."""
    index, dimension, size = (int(number) for number in match.groups())
    wanted = index + 1 if index >= 0 else -index
    for path, tensor in tensors(evidence.trial):
        if len(tensor.shape) > dimension and tensor.shape[dimension] == size:
            yield {path: with_dimension(tensor, dimension, wanted)}
    yield from equalised(evidence.trial, size, wanted)


@message_rule("elements of a view", r"shape '?\[([^\]]*)\]'? is invalid for input of size (\d+)")
def _view(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give a view as many elements as its shape has."""
    trial = evidence.trial
    sizes, got = [int(number) for number in re.findall(r"-?\d+", match.group(1))], int(match.group(2))
    if 0 in sizes:
        # What is left where a small number was divided.
        small = ((path, part) for path, part in init_numbers(trial) if number_of(part) < _SMALL)
        yield from ({path: with_number(part, _SMALL)} for path, part in small)
    wanted = prod(size for size in sizes if size > 0)
    if got and wanted:
        yield from _of_count(trial, sizes, got, wanted)
    for path, tensor in tensors(trial):
        if len(tensor.shape) == len(sizes) > 2 and min(sizes) > 0:
            yield {path: replace(tensor, shape=tuple(sizes))}
    if got and wanted:
        yield from equalised(trial, got, wanted)
        for size in dict.fromkeys(sizes):
            if size > BATCH and size * got % wanted == 0 and -1 not in sizes:
                # All but one of the dimensions were right.
                yield from equalised(trial, size, size * got // wanted)
    for path, tensor in tensors(trial):
        for size in sizes:
            for index, present in enumerate(tensor.shape):
                if index and size > 1 and size != present:
                    yield {path: with_dimension(tensor, index, size)}


def _of_count(trial: Trial, sizes: list[int], got: int, wanted: int) -> Iterator[Edit]:
    """Yield edits with more or fewer elements, where so many did not fit into ``sizes``."""
    if -1 in sizes:
        yield from resized(trial, (max(got // wanted, 1) * wanted) / got)
        return
    if got == wanted * BATCH and BATCH not in sizes:
        batches = ((path, tensor) for path, tensor in input_tensors(trial) if tensor.shape[:1] == (BATCH,))
        yield {path: with_dimension(tensor, 0, 1) for path, tensor in batches}
    elif got % wanted == 0:
        yield from _without_positions(trial, got // wanted)
    yield from resized(trial, wanted / got)


def _without_positions(trial: Trial, count: int) -> Iterator[Edit]:
    """Yield features of each image or sequence, where there were some of so many positions in it."""
    for path, tensor in input_tensors(trial):
        shape = tensor.shape
        for positions, features in ((shape[1:-1], shape[-1:]), (shape[2:], shape[1:2])):
            if len(shape) > 2 and prod(positions) == count:
                yield {path: replace(tensor, shape=(shape[0], *features))}


@message_rule("parts of a split", r"sum exactly to (\d+) .*?split_sizes=\[(\d+(?:, \d+)*)\]")
def _split(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Make a dimension the sum of its parts."""
    whole, several = int(match.group(1)), [int(number) for number in match.group(2).split(",")]
    yield from equalised(evidence.trial, whole, sum(several))
    for part in several:
        yield from equalised(evidence.trial, part, whole - sum(several) + part)


@message_rule(
    "larger map",
    r"Kernel size can't be greater|[Oo]utput size is too small|Padding size should be less"
    r"|non-?positive|infinity|by zero|smaller than kernel|too small|output size",
)
def _larger(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Make maps larger."""
    yield from resized(evidence.trial, 4.0)
    yield from resized(evidence.trial, 16.0)
