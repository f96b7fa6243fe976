"""Ranks and types of tensors: by the operands of the call that raised, and by its message."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import permutations

import torch

from ..evidence import Evidence
from ..priors.layers import image_sizes, spatial
from ..priors.tables import BATCH, MASK, SEQUENCE
from ..runner import TorchCall
from ..values import (
    DType,
    Edit,
    Group,
    Open,
    Path,
    Size,
    Tensor,
    Text,
    Trial,
    init_numbers,
    input_tensors,
    leaves,
    lists,
    name_of,
    number_of,
    several,
    tensors,
    with_number,
)
from .registry import message_rule, rule

_HIGHEST = 6
_LISTED = (3, 2, 4)
"""Items of a list, where nothing says how many."""
_RANKS = {"bmm": 3, "baddbmm": 3, "mm": 2, "addmm": 2, "sparse_mm": 2, "spmm": 2}
PRODUCTS = frozenset({"matmul", "rmatmul", *_RANKS})
_OF_FLOATS = frozenset({"linear", "batch_norm", "instance_norm", "group_norm", "layer_norm"})


def calls(*names: str) -> Callable[[Evidence], bool]:
    """Return a condition: one of these functions of torch's raised."""
    return lambda evidence: evidence.call is not None and evidence.call.function in names


def call_of(evidence: Evidence) -> TorchCall:
    """Return the call that raised, for rules that apply only if there is one."""
    assert evidence.call is not None
    return evidence.call


def is_convolution(evidence: Evidence) -> bool:
    """Return whether a convolution raised."""
    call = evidence.call
    return call is not None and call.function.startswith("conv") and len(call.operands) > 1


def same(trial: Trial, operand: torch.Tensor) -> Iterator[tuple[Path, Tensor]]:
    """Yield the tensors of the trial that ``operand`` may be: those of its shape."""
    shape = tuple(operand.shape)
    return ((path, tensor) for path, tensor in tensors(trial) if tensor.shape == shape)


def reranked(trial: Trial, old: int, new: int) -> Iterator[Edit]:
    """Yield edits with a tensor of another rank, or shorter or longer by as much; its channels stay."""
    if not 0 <= new <= _HIGHEST:
        return
    exact = [item for item in tensors(trial) if len(item[1].shape) == old]
    others = [item for item in tensors(trial) if len(item[1].shape) != old]
    by = new - old
    for path, tensor in (*exact, *others):
        if 0 <= len(tensor.shape) + by <= _HIGHEST:
            yield _longer(trial, [(path, tensor)], by)
    together = exact or others
    yield _longer(trial, together, by)
    if len(together) > 2:
        # One may be what the others are compared with.
        yield from (_longer(trial, [other for other in together if other is not each], by) for each in together)


def _longer(trial: Trial, changed: Iterable[tuple[Path, Tensor]], by: int) -> Edit:
    """Return an edit in which these tensors have so many more dimensions."""
    edit: dict[Path, Tensor] = {}
    for path, tensor in changed:
        rank = max(len(tensor.shape) + by, 0)
        edit[path] = replace(tensor, shape=(trial.uniform,) * rank) if trial.uniform else of_rank(tensor, rank)
    return edit


def of_rank(tensor: Tensor, rank: int) -> Tensor:
    """Return the tensor with another rank, as one would expect it to be then."""
    shape = tensor.shape
    if len(shape) == rank:
        return tensor
    if tensor.dtype != "float":
        return replace(tensor, shape=(shape + (SEQUENCE,) * rank)[:rank])
    channels = shape[1] if len(shape) >= 4 else (shape[-1] if shape else 1)
    if rank > 5:
        return Tensor((BATCH, SEQUENCE, *spatial(channels, rank - 3).shape[1:]))
    if rank >= 4:
        return spatial(channels, rank - 2)
    return Tensor(((), (channels,), (BATCH, channels), (BATCH, SEQUENCE, channels))[rank])


def retyped(trial: Trial, operand: torch.Tensor, dtype: DType) -> Iterator[Edit]:
    """Yield edits with tensors of another type: first those of the operand's shape."""
    alike = [path for path, _ in same(trial, operand)]
    other = [(path, tensor) for path, tensor in tensors(trial) if tensor.dtype != dtype]
    for path, tensor in sorted(other, key=lambda item: item[0] not in alike):
        yield {path: replace(tensor, dtype=dtype)}


# By the call that raised.


@rule("mask beside other tensors", "call", lambda evidence: evidence.call is not None)
def _masks_of_call(evidence: Evidence) -> Iterator[Edit]:
    """Give a mask that a call takes beside other tensors another shape, or none."""
    if any(each.dtype == torch.bool for each in call_of(evidence).taken):
        yield from _other_masks(evidence.trial, evidence.words)


def _other_masks(trial: Trial, words: set[str]) -> Iterator[Edit]:
    """Yield other shapes for masks: nothing but its use says which a mask has.

    Those named by ``words`` if there are any, or all if these name a mask: it may have been handed on.
    """
    is_any = not words or any(MASK.fullmatch(word) for word in words)
    for key, part in trial.inputs.items if trial.inputs is not None else ():
        name, path = key.rstrip("="), ("inputs", key)
        if isinstance(part, Tensor) and MASK.fullmatch(name) and (is_any or name in words):
            length = part.shape[-1] if part.shape else SEQUENCE
            yield {path: Text("None")}
            square = (length, length)
            for shape in ((BATCH, *square), square, (BATCH, 1, 1, length), (BATCH, 1, *square)):
                yield {path: replace(part, shape=shape)}


@rule("floats for a layer", "call", lambda evidence: is_convolution(evidence) or calls(*_OF_FLOATS)(evidence))
def _floats_for_layers(evidence: Evidence) -> Iterator[Edit]:
    """Give a layer with weights floats, where it was given integers."""
    operands = call_of(evidence).operands
    if operands and not operands[0].is_floating_point():
        yield from retyped(evidence.trial, operands[0], "float")


@rule("rank for a convolution", "call", is_convolution)
def _rank_for_convolution(evidence: Evidence) -> Iterator[Edit]:
    """Give a convolution as many dimensions as its kernel has, with a batch and channels."""
    call = call_of(evidence)
    operand, weight = call.operands[:2]
    dimensions = weight.dim() - 2
    if operand.dim() != dimensions + 2:
        yield from ({path: spatial(channels_of(call, weight), dimensions)} for path, _ in same(evidence.trial, operand))
        yield from reranked(evidence.trial, operand.dim(), dimensions + 2)


def channels_of(call: TorchCall, weight: torch.Tensor) -> int:
    """Return the channels that a convolution with this weight takes."""
    groups = call.kwargs.get("groups", call.args[6] if len(call.args) > 6 else 1)
    if "transpose" in call.name:
        return weight.shape[0]
    return weight.shape[1] * (groups if isinstance(groups, int) else 1)


@rule("rank for a product", "call", calls(*PRODUCTS))
def _rank_for_product(evidence: Evidence) -> Iterator[Edit]:
    """Give a product of matrices operands of its rank, and of one type."""
    call, trial = call_of(evidence), evidence.trial
    wanted, operands = _RANKS.get(call.function), call.operands[-2:]
    for operand in operands:
        if wanted is not None and operand.dim() != wanted:
            yield from reranked(trial, operand.dim(), wanted)
    if len(operands) == 2 and operands[0].dtype != operands[1].dtype:
        for operand in operands:
            if not operand.is_floating_point():
                yield from retyped(trial, operand, "float")
    if len(operands) == 2 and not all(operand.dim() for operand in operands):
        yield from reranked(trial, 0, 2)


@rule("one rank for what is joined", "call", calls("cat", "stack", "concat", "concatenate", "hstack", "vstack"))
def _rank_for_joined(evidence: Evidence) -> Iterator[Edit]:
    """Give tensors that are joined one rank."""
    ranks = [each.dim() for each in call_of(evidence).taken]
    for other in ranks[1:]:
        if other != ranks[0]:
            yield from reranked(evidence.trial, other, ranks[0])
            yield from reranked(evidence.trial, ranks[0], other)


@rule("integers for a table", "call", calls("embedding", "embedding_bag", "one_hot", "index_select"))
def _integers_for_table(evidence: Evidence) -> Iterator[Edit]:
    """Give a table integers to look up; of one-hot labels the shape of the scores without their classes."""
    call, trial = call_of(evidence), evidence.trial
    for operand in call.operands if call.function != "embedding" else call.operands[:1]:
        yield from retyped(trial, operand, "long")
        if call.function == "one_hot" and operand.dim() > 1:
            shape = tuple(operand.shape)
            for path, _ in same(trial, operand):
                yield {path: Tensor((shape[0], *shape[2:]), "long")}
                yield {path: Tensor(shape[:-1], "long")}


@rule("labels to gather by", "call", calls("gather", "scatter", "scatter_add"))
def _labels_to_gather(evidence: Evidence) -> Iterator[Edit]:
    """Give labels the shape of what they index, but for the dimension that they choose from."""
    call, trial = call_of(evidence), evidence.trial
    if len(call.operands) < 2:
        return
    given, index = call.operands[:2]
    shape = tuple(given.shape)
    dim = next((arg for arg in (*call.args[1:2], call.kwargs.get("dim")) if isinstance(arg, int)), None)
    if index.dtype != torch.long or index.dim() != given.dim():
        chosen = [] if dim is None or not shape else [shape[: dim % len(shape)] + shape[dim % len(shape) + 1 :]]
        for path, tensor in reversed(input_tensors(trial)):
            if tensor.shape != shape[:-1]:
                yield from ({path: Tensor(labels, "long")} for labels in (*chosen, shape))
    if index.dim() > given.dim():
        yield from _scores_of_steps(trial, shape)
    yield from retyped(trial, index, "long")


def _scores_of_steps(trial: Trial, shape: tuple[int, ...]) -> Iterator[Edit]:
    """Yield scores for each step of a sequence, and one label a step for what was of the same shape."""
    alike = [path for path, tensor in input_tensors(trial) if tensor.shape == shape]
    if len(alike) > 1:
        steps: dict[Path, Tensor] = {path: Tensor((BATCH, SEQUENCE)) for path in alike[1:]}
        steps[alike[0]] = Tensor((BATCH, SEQUENCE, shape[1]))
        yield from ({**steps, path: Tensor((BATCH, SEQUENCE), "long")} for path in alike[1:])


@rule("classes for a loss", "call", calls("cross_entropy", "nll_loss"))
def _classes_for_loss(evidence: Evidence) -> Iterator[Edit]:
    """Give a loss classes of the shape of the scores, but for their dimension."""
    operands, trial = call_of(evidence).operands, evidence.trial
    if len(operands) < 2 or not operands[0].dim():
        return
    scores, classes = operands[:2]
    labels = Tensor((scores.shape[0], *scores.shape[2:]), "long")
    yield from ({path: labels} for path, _ in same(trial, classes))
    yield from ({path: labels} for path, _ in reversed(tensors(trial)))
    # Both may have been flattened: classes are the last dimension, or the one behind the batch.
    for (_, one), (path, _) in permutations(input_tensors(trial), 2):
        yield {path: Tensor(one.shape[:-1], "long")}
        yield {path: Tensor(one.shape[:1] + one.shape[2:], "long")}


@rule("one number", "call", calls("int", "float", "index", "item"))
def _one_number(evidence: Evidence) -> Iterator[Edit]:
    """Give one number where a tensor was read as one: an input, or each of its rows."""
    operand = next(iter(call_of(evidence).operands), None)
    if operand is None or operand.numel() <= 1:
        return
    for path, tensor in input_tensors(evidence.trial):
        if tensor.shape == tuple(operand.shape):
            yield {path: replace(tensor, shape=(1,))}
        elif tensor.shape[1:] == tuple(operand.shape):
            yield {path: Tensor(tensor.shape[:1], "long")}
            yield {path: replace(tensor, shape=tensor.shape[:1])}


@rule("object with keys", "call", calls("getitem"))
def _object_with_keys(evidence: Evidence) -> Iterator[Edit]:
    """Make an input that is indexed by a string a dict or an object."""
    call = call_of(evidence)
    # The message varies with the length of the key: torch takes a string for a sequence of indices.
    if call.operands and isinstance(call.args[1], str):
        for path, _ in same(evidence.trial, call.operands[0]):
            if path[0] == "inputs":
                yield {path: Open(name_of(path), 2, is_input=True)}


@rule("list whose items are replaced", "call", calls("setitem"))
def _replaced_items(evidence: Evidence) -> Iterator[Edit]:
    """Make an input whose items are replaced by others of any shape a list of maps."""
    call = call_of(evidence)
    if call.operands and type(call.args[1]) is int:
        for path, tensor in same(evidence.trial, call.operands[0]):
            for count in _LISTED:
                yield {path: several(tensor if len(tensor.shape) == 4 else of_rank(tensor, 4), count)}


@rule("rank for a padding", "call", calls("pad"))
def _rank_for_padding(evidence: Evidence) -> Iterator[Edit]:
    """Give a padding two numbers for each dimension behind a batch and channels, as all but constants need."""
    call = call_of(evidence)
    if call.operands and len(call.args) > 1 and isinstance(call.args[1], (tuple, list)):
        got, rank = call.operands[0].dim(), len(call.args[1]) // 2 + 2
        if got != rank and call.kwargs.get("mode", (*call.args, "constant")[2]) != "constant":
            yield from reranked(evidence.trial, got, rank)


# By its message.


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


@message_rule("rank for a permutation", r"input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)")
def _permuted(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give a tensor as many dimensions as it is to be permuted, or one of one that is squeezed away."""
    got, wanted = (int(number) for number in match.groups())
    yield from reranked(evidence.trial, got, wanted)
    if got > wanted:
        for path, tensor in tensors(evidence.trial):
            for index in range(2, len(tensor.shape)):
                yield {path: replace(tensor, shape=(*tensor.shape[:index], 1, *tensor.shape[index + 1 :]))}


@message_rule("one rank for all", r"must be (?:a )?(\d)-?D(?: tensor)?$")
def _of_one_rank(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give tensors of other ranks the one that the message names."""
    wanted = int(match.group(1))
    for rank in sorted({len(tensor.shape) for _, tensor in tensors(evidence.trial)} - {wanted}):
        yield from reranked(evidence.trial, rank, wanted)


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


@message_rule(
    "rank for an interpolation", r"input with spatial dimensions of \[(.*?)\] and output size of [^\[\d]*\[?([\d, ]+)"
)
def _interpolated(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give a tensor one dimension for each size that an interpolation is asked for."""
    given, asked = (len(re.findall(r"\d+", sizes)) for sizes in match.groups())
    yield from reranked(evidence.trial, given + 2, asked + 2)


@message_rule("rank that is unpacked", r"(?:not enough|too many) values to unpack \(expected (?:at least )?(\d+)")
def _unpacked(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give a tensor whose shape is unpacked one dimension for each name, or make it a list of as many."""
    wanted = int(match.group(1))
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


@message_rule(
    "sizes of an image",
    r"cannot unpack non-iterable int|'int' object is not (?:subscriptable|iterable)|type 'int' has no len",
)
def _tuples(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Replace a number among the inputs by the sizes of an image, or of a batch of them."""
    for path, part in leaves(evidence.trial):
        if path[0] == "inputs" and isinstance(part, Size):
            yield from ({path: image_sizes(count)} for count in (2, 4, 3))


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
    "floats",
    r"[Ff]loating|not implemented for '(?:Long|Bool)'|type Float|must have the same dtype|same dtype"
    r"|must be float|Bool|data types?|desired output type torch.int64",
)
def _floats(evidence: Evidence, match: re.Match[str]) -> Iterator[Edit]:
    """Give a tensor of floats where the message asks for one."""
    yield from _of_type(evidence, "float")


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


@rule("other masks", "optional", lambda evidence: evidence.is_called)
def _masks(evidence: Evidence) -> Iterator[Edit]:
    """Give masks other shapes, or none, whatever failed."""
    yield from _other_masks(evidence.trial, set())
