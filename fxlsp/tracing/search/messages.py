"""What the text of an error says: ranks, types, sizes, and which kind of value was expected.

The wording of Python and torch is no contract. What is not recognised costs tries, not truth: a guess counts only if
the model runs with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod

from .guesses import Group, Open, Size, Tensor, Text, Trial, changed, leaves
from .layers import BATCH
from .lengths import lists, of_share, several
from .names import image_sizes
from .operators import reranked
from .sizes import equalised, number_of, numbers, resized, tensors, with_dimension, with_number

_SMALL = 96
"""A size that most divisors leave something of: smaller ones of constructors may be too small."""
_Reader = Callable[[Trial, re.Match[str]], Iterator[Trial]]


def read(trial: Trial, text: str) -> Iterator[Trial]:
    """Trials that the text suggests."""
    for pattern, reader in _COMPILED:
        match = pattern.search(text)
        if match is not None:
            yield from reader(trial, match)


def _ranks(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    wanted, got = (int(number) for number in match.groups()[-2:])
    yield from reranked(trial, got, wanted)


def _got_and_wanted_ranks(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    got, wanted = (int(number) for number in match.groups())
    yield from reranked(trial, got, wanted)
    if got > wanted:
        # A dimension of one may be what is squeezed away.
        for path, tensor in tensors(trial):
            for index in range(2, len(tensor.shape)):
                yield changed(
                    trial, path, replace(tensor, shape=(*tensor.shape[:index], 1, *tensor.shape[index + 1 :]))
                )


def _of_one_rank(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    wanted = int(match.group(1))
    for rank in sorted({len(tensor.shape) for _, tensor in tensors(trial)} - {wanted}):
        yield from reranked(trial, rank, wanted)


def _both_of_one_rank(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    wanted = int(match.group(1))
    for shape in match.groups()[1:]:
        rank = len(re.findall(r"\d+", shape))
        if rank != wanted:
            yield from reranked(trial, rank, wanted)


def _interpolated(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    """As many sizes as were asked for, of each of which the input must have one."""
    given, asked = (len(re.findall(r"\d+", sizes)) for sizes in match.groups())
    yield from reranked(trial, given + 2, asked + 2)


def _unpacked(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    wanted = int(match.group(1))
    for _, tensor in tensors(trial):
        if len(tensor.shape) != wanted:
            yield from reranked(trial, len(tensor.shape), wanted)
    for path, tensor in tensors(trial):
        yield changed(trial, path, several(tensor, wanted))


def _out_of_range(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    last, index = int(match.group(1)), int(match.group(2))
    for path, group in lists(trial):
        if path[0] == "made" and all(isinstance(part, Size) and part.value > last for _, part in group.items):
            # All dimensions, or as many behind the batch's.
            first = 0 if len(group.items) > last else 1
            dims = tuple((key, Size(first + order)) for order, (key, _) in enumerate(group.items))
            yield changed(trial, path, replace(group, items=dims))
    for path, part in numbers(trial):
        if path[0] == "made" and number_of(part) == index > 3:
            # It was taken for a number of features.
            yield from (changed(trial, path, with_number(part, dim)) for dim in (1, -1, 0) if dim <= last)
    yield from reranked(trial, last + 1, index + 1 if index >= 0 else -index)


def _too_many_indices(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    rank = int(match.group(1))
    yield from reranked(trial, rank, rank + 1)
    yield from reranked(trial, rank, rank + 2)


def _index(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    index, dimension, size = (int(number) for number in match.groups())
    wanted = index + 1 if index >= 0 else -index
    for path, tensor in tensors(trial):
        if len(tensor.shape) > dimension and tensor.shape[dimension] == size:
            shape = (*tensor.shape[:dimension], wanted, *tensor.shape[dimension + 1 :])
            yield changed(trial, path, replace(tensor, shape=shape))
    yield from equalised(trial, size, wanted)


def _sizes(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    one, other = (int(number) for number in match.groups())
    yield from equalised(trial, other, one)


def _sizes_got_first(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    one, other = (int(number) for number in match.groups())
    yield from equalised(trial, one, other)


def _shape(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    sizes = [int(number) for number in re.findall(r"-?\d+", match.group(1))]
    got = int(match.group(2))
    if 0 in sizes:
        yield from _divided_away(trial)
    wanted = prod(size for size in sizes if size > 0)
    if got and wanted:
        yield from _of_count(trial, sizes, got, wanted)
    for path, tensor in tensors(trial):
        if len(tensor.shape) == len(sizes) > 2 and min(sizes) > 0:
            yield changed(trial, path, replace(tensor, shape=tuple(sizes)))
    if got and wanted:
        yield from equalised(trial, got, wanted)
    for path, tensor in tensors(trial):
        for size in sizes:
            for index, present in enumerate(tensor.shape):
                if index and size > 1 and size != present:
                    shape = (*tensor.shape[:index], size, *tensor.shape[index + 1 :])
                    yield changed(trial, path, replace(tensor, shape=shape))


def _split(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    """A dimension that is the sum of its parts."""
    whole, parts = int(match.group(1)), [int(number) for number in match.group(2).split(",")]
    yield from equalised(trial, whole, sum(parts))
    for part in parts:
        yield from equalised(trial, part, whole - sum(parts) + part)


def _of_count(trial: Trial, sizes: list[int], got: int, wanted: int) -> Iterator[Trial]:
    """Trials with more or fewer elements, where so many did not fit into ``sizes``."""
    if -1 in sizes:
        yield from resized(trial, (max(got // wanted, 1) * wanted) / got)
        return
    yield from of_share(trial, got, wanted)
    if got == wanted * BATCH and BATCH not in sizes:
        yield _batch_of_one(trial)
    elif got % wanted == 0:
        yield from _without_positions(trial, got // wanted)
    yield from resized(trial, wanted / got)


def _without_positions(trial: Trial, count: int) -> Iterator[Trial]:
    """Features of each image or sequence, where there were some of so many positions in it."""
    for path, tensor in tensors(trial):
        shape = tensor.shape
        if path[0] == "fed" and len(shape) > 2:
            for positions, features in ((shape[1:-1], shape[-1]), (shape[2:], shape[1])):
                if prod(positions) == count:
                    yield changed(trial, path, replace(tensor, shape=(shape[0], features)))


def _batch_of_one(trial: Trial) -> Trial:
    for path, tensor in tensors(trial):
        if path[0] == "fed" and tensor.shape[:1] == (BATCH,):
            trial = changed(trial, path, with_dimension(tensor, 0, 1))
    return trial


def _output_size(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    """The size that a layer was asked for, within the bounds that it tells."""
    asked, least = (tuple(int(number) for number in re.findall(r"\d+", group)) for group in match.groups())
    for path, group in lists(trial):
        if path[0] == "fed" and tuple(part.value for _, part in group.items if isinstance(part, Size)) == asked:
            items = tuple((key, Size(size)) for (key, _), size in zip(group.items, least, strict=False))
            yield changed(trial, path, replace(group, items=items))


def _divided_away(trial: Trial) -> Iterator[Trial]:
    """A size of zero is what is left where a small number was divided."""
    for path, part in numbers(trial):
        if path[0] == "made" and number_of(part) < _SMALL:
            yield changed(trial, path, with_number(part, _SMALL))


def _shapes(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    """Two shapes that ought to be the same."""
    one, other = (tuple(int(number) for number in re.findall(r"\d+", group)) for group in match.groups())
    for old, new in ((other, one), (one, other)):
        for path, tensor in tensors(trial):
            if tensor.shape == old:
                yield changed(trial, path, replace(tensor, shape=new))


def _tuples(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    """Sizes of an image, or of a batch of them, in the place of a number."""
    for path, part in leaves(trial):
        if path[0] == "fed" and isinstance(part, Size):
            for sizes in map(image_sizes, (2, 4, 3)):
                if sizes is not None:
                    yield changed(trial, path, sizes)


def _larger(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    yield from resized(trial, 4.0)
    yield from resized(trial, 16.0)


def _longs(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    for path, tensor in tensors(trial):
        if tensor.dtype != "long":
            yield changed(trial, path, replace(tensor, dtype="long"))


def _floats(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    for path, tensor in tensors(trial):
        if tensor.dtype != "float":
            yield changed(trial, path, replace(tensor, dtype="float"))


def _bools(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    for path, tensor in tensors(trial):
        if tensor.dtype != "bool":
            yield changed(trial, path, replace(tensor, dtype="bool"))


def _types(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    yield from _floats(trial, match)
    yield from _longs(trial, match)


def _scalars(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    """A number, or a tensor that holds one, in the place of a tensor; the likeliest is one of the last inputs."""
    for path, _ in reversed(tensors(trial)):
        if path[0] == "fed":
            yield changed(trial, path, Size(2))
            yield changed(trial, path, Tensor(()))
            yield changed(trial, path, Text("False"))


def _lists(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    for path, tensor in tensors(trial):
        if path[0] == "fed":
            yield changed(trial, path, several(tensor, 2))
            if tensor.shape[:1] == (BATCH,):
                yield changed(trial, path, several(replace(tensor, shape=tensor.shape[1:]), 2))


def _objects(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    for path, _ in tensors(trial):
        if path[0] == "fed":
            yield changed(trial, path, Open(path[-1].rstrip("="), 2, fed=True))


def _maps_by_name(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    """Maps under names of their own, as the layers of a backbone return them, in the place of one."""
    for path, tensor in tensors(trial):
        if path[0] == "fed":
            for count in (3, 4, 1):
                items = tuple((repr(str(index)), tensor) for index in range(count))
                yield changed(trial, path, Group("dict", items))


def _callables(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    """A module in the place of a tensor that is called."""
    for path, _ in reversed(tensors(trial)):
        if path[0] == "fed":
            yield changed(trial, path, Text("torch.nn.Identity()"))


def _tensor_wanted(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    known = next((tensor for _, tensor in tensors(trial)), Tensor((BATCH, 32)))
    for path, part in leaves(trial):
        if path[0] == "fed" and not isinstance(part, Tensor):
            yield changed(trial, path, known)
    for key, part in trial.fed.parts if trial.fed is not None else ():
        if isinstance(part, Group):
            yield changed(trial, ("fed", key), next((inner for _, inner in part.items), known))


def _divisible(trial: Trial, match: re.Match[str]) -> Iterator[Trial]:
    one, other = (int(number) for number in match.groups())
    if other:
        yield from equalised(trial, one, max(one // other, 1) * other)
        yield from equalised(trial, other, 1)


_N = r"\[?(\d+)\]?"
_READERS: tuple[tuple[str, _Reader], ...] = (
    (r"(?:not enough|too many) values to unpack \(expected (?:at least )?(\d+)", _unpacked),
    (r"be \dD or (\d)D, got (\d)D", _ranks),
    (r"[Ee]xpected.*?(\d)-?D(?: \(unbatched\) or 4D)?.*?got[^\d]*?(\d)-?[Dd]", _ranks),
    (r"[Ee]xpected (\d) dims.*?Received (\d)-dim", _ranks),
    (r"(\d)D (?:tensor|input) expected.*?got.*?(\d)D", _ranks),
    (r"input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)", _got_and_wanted_ranks),
    (r"sizes provided \((\d+)\) must be greater or equal.*?in the tensor \((\d+)\)", _ranks),
    (
        r"target tensor expects (\d)D input tensors?, but found inputs with sizes \[(.*?)\] and \[(.*?)\]",
        _both_of_one_rank,
    ),
    (r"input with spatial dimensions of \[(.*?)\] and output size of [^\[\d]*\[?([\d, ]+)", _interpolated),
    (r"subscripts in the equation \((\d+)\) does not match the number of dimensions \((\d+)\)", _ranks),
    (r"repeat dims can not be smaller", lambda trial, match: _fewer_dimensions(trial)),
    (r"\((\d[\d, ]*)\) != \((\d[\d, ]*)\)", _shapes),
    (r"cannot unpack non-iterable int|'int' object is not (?:subscriptable|iterable)|type 'int' has no len", _tuples),
    (r"must be (\d)-?[Dd].*?(?:got|but).*?(\d)-?[Dd]", _ranks),
    (r"must be (?:a )?(\d)-?D(?: tensor)?$", _of_one_rank),
    (r"Dimension out of range \(expected to be in range of \[-?\d+, (-?\d+)\], but got (-?\d+)", _out_of_range),
    (r"too many indices for tensor of dimension (\d+)", _too_many_indices),
    (r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)", _index),
    (r"[Ss]ize of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)", _sizes),
    (rf"must be equal to input_size\. Expected {_N}, got {_N}", _sizes),
    (rf"embedding dimension of {_N}, but got {_N}", _sizes),
    (rf"[Ee]xpected size {_N} but got size {_N}", _sizes),
    (rf"[Ee]xpected(?:[^\d\[]*){_N}[^\d\[]*got[^\d\[]*{_N}", _sizes),
    (r"has size (\d+) for operand \d+ which does not broadcast with previously seen size (\d+)", _sizes),
    (r"should contain (\d+) elements not (\d+)", _sizes_got_first),
    (r"to have (\d+) channels, but got (\d+) channels", _sizes),
    (r"\(\d+x(\d+) and (\d+)x\d+\)", _sizes_got_first),
    (r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)", _sizes),
    (r"[Aa]ttempting to broadcast.*?(\d+).*?(\d+)\]?\D*$", _sizes),
    (r"shape '?\[([^\]]*)\]'? is invalid for input of size (\d+)", _shape),
    (r"Tensor' object is not callable", _callables),
    (r"values expected sparse tensor layout|Tensor' object has no attribute '(?:items|keys|values)'", _maps_by_name),
    (
        r"requested an output size of (?:torch.Size\()?\[?\(?([\d, ]+).*?valid sizes range from \[([\d, ]+)\]",
        _output_size,
    ),
    (r"sum exactly to (\d+) .*?split_sizes=\[(\d+(?:, \d+)*)\]", _split),
    (r"can't divide axis of length (\d+) in chunks of (\d+)", _divisible),
    (r"\(?(\d+)\)? (?:must|should|has to|needs to) be (?:divisible by|a multiple of)[^\d]*(\d+)", _divisible),
    (
        (
            r"Kernel size can't be greater|[Oo]utput size is too small|Padding size should be less"
            r"|non-?positive|infinity|by zero|smaller than kernel|too small|output size"
        ),
        _larger,
    ),
    (
        (
            r"scalar types?:? (?:to be )?Long|must be long|Long, Int|int64|used as indices|type Long"
            r"|must be (?:an )?int(?:eger)? tensor"
        ),
        _longs,
    ),
    (
        (
            r"[Ff]loating|not implemented for '(?:Long|Bool)'|type Float|must have the same dtype|same dtype"
            r"|must be float|Bool|data types?|desired output type torch.int64"
        ),
        _floats,
    ),
    (r"boolean|predicate to be bool|Boolean-type|type Bool|bool tensor|BoolTensor|operator on a bool", _bools),
    (
        (
            r"converted to an? (?:index|Scalar|Python)|converted to Scalar|interpreted as an integer"
            r"|Boolean value of Tensor|must be (?:an? )?(?:int|integer|float|number|Number|SymInt"
            r"|tuple of ints|bool|real number)\b[^\n]*not (?:\w*Tensor|Parameter)"
            r"|unhashable type: '(?:Fake)?Tensor'|'(?:Fake)?Tensor' object (?:is not callable|cannot be)"
            r"|failed to unpack|expected size to be one of int"
            r"|(?:arange|linspace)\(\) received an invalid combination of arguments - got \([^)]*Tensor"
        ),
        _scalars,
    ),
    (
        (
            r"must be tuple of Tensors|list of tensors|[Ll]ist\[Tensor\]|must be a list|a list of"
            r"|iteration over a 0-d|concatenate list|object has no attribute 'append'|index out of range"
        ),
        _lists,
    ),
    (
        (
            r"invalid data type 'str'|valid indices \(got str"
            r"|'(?:Fake)?Tensor' object has no attribute|indices must be integers|[Ii]ndexing"
            r"|argument after \*\*|not a mapping|__contains__ only supports Tensor"
        ),
        _objects,
    ),
    (
        (
            r"'(?:int|float|bool|str)' object has no attribute"
            r"|'(?:float|bool)' object is not (?:subscriptable|iterable)"
            r"|expected Tensor as element|must be (?:a )?Tensor,? not|must be Tensor, not"
            r"|has no attribute '(?:size|shape|dim|view"
            r"|ndim|device|dtype|permute|unsqueeze)'|not (?:list|tuple|int|NoneType|bool)\b|unsupported operand"
        ),
        _tensor_wanted,
    ),
    (r"index out of range|out of bounds", lambda trial, match: _more_dimensions(trial)),
)


def _fewer_dimensions(trial: Trial) -> Iterator[Trial]:
    for _, tensor in tensors(trial):
        yield from reranked(trial, len(tensor.shape), len(tensor.shape) - 1)


def _more_dimensions(trial: Trial) -> Iterator[Trial]:
    for _, tensor in tensors(trial):
        yield from reranked(trial, len(tensor.shape), len(tensor.shape) + 1)


_COMPILED = tuple((re.compile(pattern, re.DOTALL), reader) for pattern, reader in _READERS)
