"""Lists that are too short or too long, and lists of feature maps, each of half the edge of the one before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..evidence import Evidence
from ..priors.tables import IDENTITY, ONE_LAYER
from ..trials.values import (
    Edit,
    Group,
    Path,
    Size,
    Tensor,
    Text,
    Trial,
    init_numbers,
    leaves,
    lists,
    name_of,
    number_of,
    of_length,
    sizes_of,
    with_number,
)
from .registry import rule

LONGEST = 12
"""No list is made longer."""
_INDEX = re.compile(r"index (\d+) is out of range")
_WRITTEN_INDEX = re.compile(r"(\w+)\[(\d+)\]")
_STARRED = re.compile(r"takes (\d+) positional arguments? but (\d+) were given")
_WRITTEN_STAR = re.compile(r"\*\s*(?:\w+\.)*(\w+)")
_ANY_INDEX = re.compile(r"(?:list|tuple|pop) index out of range|pop from empty list")


@rule("items that are too many", "kind")
def _starred(evidence: Evidence) -> Iterator[Edit]:
    """Shorten a list that is handed on item by item to what takes fewer."""
    starred = _STARRED.search(evidence.text)
    if starred is not None:
        wanted, given = (int(number) for number in starred.groups())
        yield from _shorter(evidence, given - wanted, set(_WRITTEN_STAR.findall(evidence.line)))


@rule("items that are missing", "kind", lambda evidence: isinstance(evidence.error, IndexError))
def _indexed(evidence: Evidence) -> Iterator[Edit]:
    """Lengthen a list of which an item was asked for that is not there."""
    trial, match = evidence.trial, _INDEX.search(evidence.text)
    if match is None and not _ANY_INDEX.search(evidence.text):
        return
    least_length = int(match.group(1)) + 1 if match is not None else None
    yield from _with_more_layers(evidence)
    everything = [*lists(trial), *_open_lists(evidence)]
    found = sorted(everything, key=lambda item: name_of(item[0]) not in evidence.words)
    if least_length is not None and least_length <= LONGEST:
        # These are the words of torch's containers, which are as long as something that the model is constructed with.
        found = [(path, group) for path, group in found if path[0] == "init"]
        yield from _counted(trial, found, least_length)
    written = {name: int(index) + 1 for name, index in _WRITTEN_INDEX.findall(evidence.line)}
    yield from _rows(found, max(written.values(), default=0))
    for path, group in found:
        length = len(group.items)
        least = least_length or written.get(name_of(path), 0)
        more = (length + 1, length + 2, length + 3) if least <= length else (least,)
        yield from ({path: of_length(group, count)} for count in more if count <= LONGEST)


def _with_more_layers(evidence: Evidence) -> Iterator[Edit]:
    """Give modules that were asked for their layers two and three: one may have been the last but one."""
    made = [path for path, part in leaves(evidence.trial) if part == Text(ONE_LAYER)]
    asked = [path for path, use in evidence.uses.items() if use.lists_modules]
    for path in (*made, *asked):
        yield from ({path: Text(f"torch.nn.Sequential({', '.join([IDENTITY] * count)})")} for count in (2, 3))


def _rows(found: list[tuple[Path, Group]], least: int) -> Iterator[Edit]:
    """Make lists in a list as long as an index that was written asks for."""
    for path in dict.fromkeys(path[:-1] for path, _ in found):
        beside = [(other, group) for other, group in found if other[:-1] == path and other[-1].startswith("[")]
        short = {other: of_length(group, least) for other, group in beside if len(group.items) < least <= LONGEST}
        if short:
            yield short


def _shorter(evidence: Evidence, by: int, starred: set[str]) -> Iterator[Edit]:
    """Shorten lists that are handed on item by item."""
    for path, group in (*lists(evidence.trial), *_open_lists(evidence)):
        if name_of(path) in starred and len(group.items) > by > 0:
            yield {path: replace(group, items=group.items[:-by])}


def _counted(trial: Trial, found: list[tuple[Path, Group]], wanted: int) -> Iterator[Edit]:
    """Change what may be the number of items."""
    for path, group in found:
        if path[0] == "init" and all(isinstance(part, Size) and part.value < wanted for _, part in group.items):
            yield {path: replace(group, items=tuple((key, Size(wanted)) for key, _ in group.items))}
    for path, part in init_numbers(trial):
        if number_of(part) == wanted - 1:
            yield {path: with_number(part, wanted)}


def _open_lists(evidence: Evidence) -> Iterator[tuple[Path, Group]]:
    """Yield what was only used as a list so far."""
    for path, use in evidence.uses.items():
        if use.length is not None and not (use.attributes or use.calls or use.ran):
            yield path, sizes_of(use.length, use.open.size)


def _several_maps(trial: Trial) -> Iterator[tuple[Path, Group]]:
    if trial.inputs is not None:
        yield from lists(trial)
        yield from (
            (("inputs", key), part)
            for key, part in trial.inputs.items
            if isinstance(part, Group) and part.kind == "dict"
        )


def pyramids(trial: Trial) -> Iterator[Edit]:
    """Yield edits in which the maps of a list have edges that fall by halves, or rise."""
    for path, group in _several_maps(trial):
        maps = [part for _, part in group.items if isinstance(part, Tensor) and len(part.shape) >= 4]
        if len(maps) < 2 or len(maps) < len(group.items) or len({part.shape[2:] for part in maps}) > 1:
            continue
        falling = [_halved(part, index) for index, part in enumerate(maps)]
        rising = [_halved(part, len(maps) - 1 - index) for index, part in enumerate(maps)]
        for parts in (falling, rising):
            if min(parts[0].shape[-1], parts[-1].shape[-1]) > 0:
                items = tuple((key, part) for (key, _), part in zip(group.items, parts, strict=True))
                yield {path: replace(group, items=items)}


def _halved(tensor: Tensor, times: int) -> Tensor:
    return replace(tensor, shape=(*tensor.shape[:2], *(edge >> times for edge in tensor.shape[2:])))
