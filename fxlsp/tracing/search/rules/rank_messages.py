"""Ranks and types of tensors, by the message of the error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..evidence import Evidence, unpacked_names
from ..priors.tables import BATCH
from ..trials.values import (
    DType,
    Edit,
    Group,
    Open,
    Size,
    Tensor,
    Text,
    init_numbers,
    input_tensors,
    leaves,
    lists,
    number_of,
    several,
    tensors,
    with_number,
)
from .ranks_dtypes import reranked
from .registry import message_rule, rule


@message_rule(
    "rank that was expected",
    r"be \dD or (\d)D, got (\d)D",
    r"[Ee]xpected.*?(\d)-?D(?: \(unbatched\) or 4D)?.*?got[^\d]*?(\d)-?[Dd]",
    r"[Ee]xpected (\d) dims.*?Received (\d)-dim",
    r"(\d)D (?:tensor|input) expected.*?got.*?(\d)D",
    r"sizes provided \((\d+)\) must be greater or equal.*?in the tensor \((\d+)\)",
    r"subscripts in the equation \((\d+)\) does not match the number of dimensions \((\d+)\)",
    r"must be (\d)-?[Dd].*?(?:got|but).*?(\d)-?[Dd]",
)
def _expected_rank(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give a tensor the rank that the message wants."""
    wanted, got = (int(number) for number in match.groups()[-2:])
    yield from reranked(evidence.trial, got, wanted)


@rule("rank of a layer's pattern", "kind", lambda evidence: isinstance(evidence.error, KeyError))
def _of_pattern(evidence: Evidence) -> Iterator[Edit]:
    """Give what a layer of einops gets the rank of its pattern: it looks up its recipe by the rank."""
    last = evidence.error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    got = evidence.error.args[0] if evidence.error.args else None
    if last is None or not str(last.tb_frame.f_globals.get("__name__", "")).startswith("einops."):
        return
    recipes = getattr(last.tb_frame.f_locals.get("self"), "_multirecipe", None)
    if isinstance(recipes, dict) and isinstance(got, int):
        for wanted in sorted(recipes, key=lambda rank: abs(rank - got)):
            yield from reranked(evidence.trial, got, wanted)


@message_rule("rank for a permutation", r"input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)")
def _permuted(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give a tensor as many dimensions as it is to be permuted, or one of one that is squeezed away."""
    got, wanted = (int(number) for number in match.groups())
    yield from reranked(evidence.trial, got, wanted)
    if got > wanted:
        for path, tensor in tensors(evidence.trial):
            for index in range(2, len(tensor.shape)):
                yield {path: replace(tensor, shape=(*tensor.shape[:index], 1, *tensor.shape[index + 1 :]))}


@message_rule(
    "rank for a loss of pairs",
    r"target tensor expects (\d)D input tensors?, but found inputs with sizes \[(.*?)\] and \[(.*?)\]",
)
def _both_of_one_rank(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give both tensors of a loss the rank that goes with its target's."""
    wanted = int(match.group(1))
    for shape in match.groups()[1:]:
        rank = len(re.findall(r"\d+", shape))
        if rank != wanted:
            yield from reranked(evidence.trial, rank, wanted)


@rule("rank that is unpacked", "message", lambda evidence: evidence.is_called)
def _unpacked(evidence: Evidence) -> Iterator[Edit]:
    """Give a tensor whose shape is unpacked one dimension for each name, or make it a list of as many."""
    for wanted in filter(None, (unpacked_names(text, starred=True) for text in evidence.texts)):
        for _, tensor in tensors(evidence.trial):
            if len(tensor.shape) != wanted:
                yield from reranked(evidence.trial, len(tensor.shape), wanted)
        yield from ({path: several(tensor, wanted)} for path, tensor in tensors(evidence.trial))


@message_rule("fewer dimensions", r"repeat dims can not be smaller")
def _fewer_dimensions(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give a tensor that is repeated a dimension less."""
    for _, tensor in tensors(evidence.trial):
        yield from reranked(evidence.trial, len(tensor.shape), len(tensor.shape) - 1)


@message_rule(
    "dimension that is there",
    r"Dimension out of range \(expected to be in range of \[-?\d+, (-?\d+)\], but got (-?\d+)",
)
def _out_of_range(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give arguments that are dimensions numbers of such that are there, or a tensor more of them."""
    last, index = int(match.group(1)), int(match.group(2))
    for path, group in lists(evidence.trial):
        if path[0] == "init" and all(isinstance(part, Size) and part.value > last for _, part in group.items):
            # All dimensions, or as many behind the batch's.
            first = 0 if len(group.items) > last else 1
            dims = tuple((key, Size(first + order)) for order, (key, _) in enumerate(group.items))
            yield {path: replace(group, items=dims)}
    for path, part in init_numbers(evidence.trial):
        if number_of(part) == index > 3:
            # It was taken for a number of features.
            yield from ({path: with_number(part, dim)} for dim in (1, -1, 0) if dim <= last)
    yield from reranked(evidence.trial, last + 1, index + 1 if index >= 0 else -index)


@message_rule("rank that is indexed", r"too many indices for tensor of dimension (\d+)")
def _too_many_indices(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give a tensor a dimension for each index."""
    rank = int(match.group(1))
    yield from reranked(evidence.trial, rank, rank + 1)
    yield from reranked(evidence.trial, rank, rank + 2)


def _of_type(evidence: Evidence, dtype: DType) -> Iterator[Edit]:
    for path, tensor in tensors(evidence.trial):
        if tensor.dtype != dtype:
            yield {path: replace(tensor, dtype=dtype)}


@message_rule(
    "integers",
    r"scalar types?:? (?:to be )?Long|must be long|Long, Int|int64|used as indices|type Long"
    r"|must be (?:an )?int(?:eger)? tensor",
)
def _longs(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give a tensor of integers where the message asks for one."""
    yield from _of_type(evidence, "long")


@message_rule(
    "booleans", r"boolean|predicate to be bool|Boolean-type|type Bool|bool tensor|BoolTensor|operator on a bool"
)
def _bools(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give a tensor of booleans where the message asks for one."""
    yield from _of_type(evidence, "bool")


@message_rule(
    "number for a tensor",
    r"converted to an? (?:index|Scalar|Python)|converted to Scalar|interpreted as an integer"
    r"|Boolean value of Tensor|must be (?:an? )?(?:int|integer|float|number|Number|SymInt"
    r"|tuple of ints|bool|real number)\b[^\n]*not (?:\w*Tensor|Parameter)"
    r"|unhashable type: '(?:Fake)?Tensor'|'(?:Fake)?Tensor' object (?:is not callable|cannot be)"
    r"|failed to unpack|expected size to be one of int"
    r"|(?:arange|linspace)\(\) received an invalid combination of arguments - got \([^)]*Tensor",
)
def _scalars(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Replace a tensor by a number, or by a tensor that holds one; the likeliest is one of the last inputs."""
    for path, _ in reversed(input_tensors(evidence.trial)):
        yield from ({path: each} for each in (Size(2), Tensor(()), Text("False")))


@message_rule(
    "list for a tensor",
    r"must be tuple of Tensors|list of tensors|[Ll]ist\[Tensor\]|must be a list|a list of"
    r"|iteration over a 0-d|concatenate list|object has no attribute 'append'|index out of range",
)
def _lists(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Replace a tensor by a list of two, with a batch or without."""
    for path, tensor in input_tensors(evidence.trial):
        yield {path: several(tensor, 2)}
        if tensor.shape[:1] == (BATCH,):
            yield {path: several(replace(tensor, shape=tensor.shape[1:]), 2)}


@message_rule(
    "object for a tensor",
    r"invalid data type 'str'|valid indices \(got str"
    r"|'(?:Fake)?Tensor' object has no attribute|indices must be integers|[Ii]ndexing"
    r"|argument after \*\*|not a mapping|__contains__ only supports Tensor",
)
def _objects(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Replace a tensor by a dict or an object, whose parts its uses say."""
    for path, _ in input_tensors(evidence.trial):
        yield {path: Open(path[-1].rstrip("="), 2, is_input=True)}


@message_rule(
    "maps by name", r"values expected sparse tensor layout|Tensor' object has no attribute '(?:items|keys|values)'"
)
def _maps_by_name(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Replace a map by several under names of their own, as the layers of a backbone return them."""
    for path, tensor in input_tensors(evidence.trial):
        for count in (3, 4, 1):
            yield {path: Group("dict", tuple((repr(str(index)), tensor) for index in range(count)))}


@message_rule("module for a tensor", r"Tensor' object is not callable")
def _callables(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Replace a tensor that is called by a module."""
    yield from ({path: Text("torch.nn.Identity()")} for path, _ in reversed(input_tensors(evidence.trial)))


@message_rule(
    "tensor for something else",
    r"'(?:int|float|bool|str)' object has no attribute"
    r"|'(?:float|bool)' object is not (?:subscriptable|iterable)"
    r"|expected Tensor as element|must be (?:a )?Tensor,? not|must be Tensor, not"
    r"|has no attribute '(?:size|shape|dim|view"
    r"|ndim|device|dtype|permute|unsqueeze)'|not (?:list|tuple|int|NoneType|bool)\b|unsupported operand",
)
def _tensor_wanted(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Replace a number, a flag or a list among the inputs by a tensor."""
    trial = evidence.trial
    known = next((tensor for _, tensor in tensors(trial)), Tensor((BATCH, 32)))
    for path, part in leaves(trial):
        if path[0] == "inputs" and not isinstance(part, Tensor):
            yield {path: known}
    for key, part in trial.inputs.parts if trial.inputs is not None else ():
        if isinstance(part, Group):
            yield {("inputs", key): next((inner for _, inner in part.items), known)}


@message_rule("more dimensions", r"index out of range|out of bounds")
def _more_dimensions(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give a tensor a dimension more."""
    for _, tensor in tensors(evidence.trial):
        yield from reranked(evidence.trial, len(tensor.shape), len(tensor.shape) + 1)
