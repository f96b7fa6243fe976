"""Edits of trials after which sizes fit.

What does not fit is recognised by its number, since different things have different sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations, permutations, product

from .priors.tables import BATCH, COLOURS
from .trials.values import (
    Edit,
    Guess,
    Path,
    Tensor,
    Trial,
    init_numbers,
    input_tensors,
    number_of,
    numbers,
    tensors,
    with_dimension,
    with_number,
)

Shape = tuple[int, ...]
LARGEST = 16384
"""No guessed size is larger."""
_EDGES = (8, 16, 24, 28, 32, 48, 56, 64, 84, 96, 112, 128, 160, 192, 224, 227, 256, 299, 320, 384, 512)
"""Usual sizes of images."""
_MOST_MOVED = 4
"""Dimensions of what is looked for in all orders."""


def equalised(trial: Trial, got: int, want: int) -> Iterator[Edit]:
    """Yield edits after which what is ``got`` may be what is wanted, inputs first."""
    if got == want:
        return
    yield from _of_tensors(trial, got, want)
    yield from _of_numbers(trial, got, want)
    yield from _of_numbers(trial, want, got)
    yield from _of_both(trial, got, want)
    yield from _of_both(trial, want, got)
    yield from _of_tensors(trial, want, got)


def divisible(trial: Trial, number: int, by: int) -> Iterator[Edit]:
    """Yield edits after which one number is a multiple of another."""
    if number > 0 and by > 0:
        yield from equalised(trial, number, max(number // by, 1) * by)
        yield from equalised(trial, by, 1)


def _of_tensors(trial: Trial, old: int, new: int) -> Iterator[Edit]:
    """Change each dimension of this size, then those of one tensor, then all: several may have to stay equal."""
    if not 0 < new <= LARGEST:
        return
    everywhere: dict[Path, Guess] = {}
    for path, tensor in tensors(trial):
        found = [index for index, size in enumerate(tensor.shape) if size == old and (index or old != BATCH)]
        yield from ({path: with_dimension(tensor, index, new)} for index in found)
        if found:
            shape = (new if index in found else size for index, size in enumerate(tensor.shape))
            everywhere[path] = replace(tensor, shape=tuple(shape))
        if len(found) > 1:
            yield {path: everywhere[path]}
    if len(everywhere) > 1:
        yield everywhere


def _of_numbers(trial: Trial, old: int, new: int) -> Iterator[Edit]:
    if 0 < new <= LARGEST:
        yield from ({path: with_number(part, new)} for path, part in numbers(trial) if number_of(part) == old)


def _of_both(trial: Trial, old: int, new: int) -> Iterator[Edit]:
    """Change what an input and the model share: one number means one thing, and one alone would fail at once."""
    shared: dict[Path, Guess] = {}
    for path, tensor in tensors(trial) if 0 < new <= LARGEST else ():
        # The edges of a map are nothing that a model is constructed with.
        index = 1 if len(tensor.shape) > 3 else len(tensor.shape) - 1
        if index > 0 and tensor.shape[index] == old:
            shared[path] = with_dimension(tensor, index, new)
    arguments = {path: with_number(part, new) for path, part in init_numbers(trial) if number_of(part) == old}
    if shared and arguments:
        yield {**shared, **arguments}


def one_step(trial: Trial) -> Edit:
    """Return an edit with one step of each sequence."""
    shapes = ((path, tensor) for path, tensor in tensors(trial) if len(tensor.shape) == 3)
    return {path: replace(tensor, shape=(tensor.shape[0], tensor.shape[2])) for path, tensor in shapes}


def resized(trial: Trial, ratio: float, is_convolved: bool = False) -> Iterator[Edit]:
    """Yield edits with other spatial sizes.

    Args:
        trial: The trial.
        ratio: How many times as many positions are wanted.
        is_convolved: Whether a convolution wants them, which slides along the last dimension of a sequence.
    """
    for path, tensor in sorted(tensors(trial), key=lambda each: -len(each[1].shape)):
        for sizes in _other_sizes(tensor, ratio, is_convolved):
            alone = {path: replace(tensor, shape=tensor.shape[:1] + sizes)}
            # Inputs of one size are likely to have to stay so.
            alike = [item for item in tensors(trial) if item[1].shape[1:] == tensor.shape[1:]]
            together = {other: replace(beside, shape=beside.shape[:1] + sizes) for other, beside in alike}
            yield together
            if len(together) > 1:
                yield alone


def _other_sizes(tensor: Tensor, ratio: float, is_convolved: bool) -> Iterator[Shape]:
    """Yield sizes of all dimensions but the batch's."""
    dimensions = len(tensor.shape) - 2
    if tensor.dtype != "float" or dimensions < 1:
        return
    first = 2 if dimensions > 1 or tensor.shape[2] <= tensor.shape[1] else 1
    if is_convolved and first == 1:
        yield with_dimension(tensor, 2, max(round(tensor.shape[2] * ratio), 1)).shape[1:]
    edge = tensor.shape[-1] if dimensions > 1 else tensor.shape[first]
    for new in _edges_near(edge * ratio ** (1 / dimensions), edge):
        if dimensions > 1:
            yield tensor.shape[1:2] + (new,) * dimensions
        else:
            yield with_dimension(tensor, first, new).shape[1:]


def _edges_near(estimate: float, edge: int) -> list[int]:
    exact = [round(estimate)] if estimate >= 1 else []
    usual = sorted(_EDGES, key=lambda size: abs(size - estimate))[:8]
    return [size for size in dict.fromkeys([*exact, *usual]) if size != edge and size <= LARGEST]


def with_summands(trial: Trial, got: int, want: int, held: Iterable[int] = ()) -> Iterator[Edit]:
    """Yield edits in which joined inputs have sizes of constructor arguments, of which ``want`` is the sum.

    Or ``held`` sizes, those of the model's attributes; of an image beside labels it is its colours.
    """
    given = [*(number_of(part) for _, part in init_numbers(trial)), *held]
    floats = [(path, tensor) for path, tensor in input_tensors(trial) if tensor.dtype == "float"]
    for count in (2, 3):
        sums = [sizes for sizes in product(dict.fromkeys(given), repeat=count) if sum(sizes) == want]
        if want % count == 0:
            # Nothing may say more than that they are alike.
            sums.append((want // count,) * count)
        for joined in combinations(floats, count):
            for index in (-1, 1):
                if all(len(tensor.shape) > 1 for _, tensor in joined) and got == sum(
                    tensor.shape[index] for _, tensor in joined
                ):
                    ranks = [len(tensor.shape) for _, tensor in joined]
                    is_image = count == 2 and ranks[0] == 4 > ranks[1] and want > COLOURS
                    for sizes in [(COLOURS, want - COLOURS)] * is_image + sums:
                        pairs = zip(joined, sizes, strict=True)
                        yield {path: with_dimension(tensor, index, size) for (path, tensor), size in pairs}


def with_edges_times(trial: Trial, want: int, got: int) -> Iterator[Edit]:
    """Yield maps of ``want / got`` times as many pixels along each edge, where those are whole numbers."""
    for path, tensor in input_tensors(trial):
        edges = tensor.shape[2:]
        if len(edges) > 1 and tensor.dtype == "float" and all(edge * want % got == 0 for edge in edges):
            scaled = tuple(edge * want // got for edge in edges)
            if min(scaled) > 0 and max(scaled) <= LARGEST:
                yield {path: replace(tensor, shape=(*tensor.shape[:2], *scaled))}


def rearranged(trial: Trial, old: Shape, new: Shape) -> Iterator[Edit]:
    """Yield another shape for what became an operand by moving its dimensions.

    Dimensions of one that were put into the input stay where they are: ``new`` may have fewer, which the input lacks.
    """
    added = [index for index, size in enumerate(old) if size == 1]
    given = tuple(size for size in old if size != 1)
    without = tuple(size for index, size in enumerate(new) if index not in added)
    for path, tensor in tensors(trial):
        whole = _moved(tensor.shape, old, new) if len(old) == len(new) else ()
        for shape in dict.fromkeys((*whole, *_moved(tensor.shape, given, without))):
            if shape != tensor.shape:
                yield {path: replace(tensor, shape=shape)}


def _moved(shape: Shape, old: Shape, new: Shape) -> Iterator[Shape]:
    """Yield ``new`` with its dimensions in the order that those of ``old`` have in ``shape``."""
    if shape == old:
        yield new
    elif len(shape) == len(old) == len(new) <= _MOST_MOVED:
        orders = permutations(range(len(old)))
        yield from dict.fromkeys(
            tuple(new[index] for index in order) for order in orders if tuple(old[index] for index in order) == shape
        )
