"""Lists that are too short, and lists of feature maps, each of which has half the edge of the one before it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..failures import text_of
from .attempts import Outcome
from .guesses import Group, Guess, Path, Size, Tensor, Trial, changed
from .names import name_of, sizes_of
from .sizes import number_of, numbers, with_number

_LONGEST = 12
"""No list is made longer."""
_INDEX = re.compile(r"index (\d+) is out of range")
_WRITTEN_INDEX = re.compile(r"(\w+)\[(\d+)\]")
_STARRED = re.compile(r"takes (\d+) positional arguments? but (\d+) were given")
_WRITTEN_STAR = re.compile(r"\*\s*(?:\w+\.)*(\w+)")
_ANY_INDEX = re.compile(r"(?:list|tuple|pop) index out of range|pop from empty list")


def read(trial: Trial, outcome: Outcome, words: set[str], line: str) -> Iterator[Trial]:
    """Trials with longer lists, where an item was asked for that is not there, or with shorter ones.

    ``words`` are of the failing line.
    """
    error = outcome.error
    text = "" if error is None else text_of(error)
    starred = _STARRED.search(text)
    if starred is not None:
        wanted, given = (int(number) for number in starred.groups())
        yield from _shorter(trial, outcome, given - wanted, set(_WRITTEN_STAR.findall(line)))
    if not isinstance(error, IndexError):
        return
    match = _INDEX.search(text)
    if match is None and not _ANY_INDEX.search(text):
        return
    least_length = int(match.group(1)) + 1 if match is not None else None
    found = sorted([*lists(trial), *_open_lists(outcome)], key=lambda item: name_of(item[0]) not in words)
    if least_length is not None and least_length <= _LONGEST:
        # These are the words of torch's containers, which are as long as something says that the model is made of.
        found = [(path, group) for path, group in found if path[0] == "made"]
        yield from _counted(trial, found, least_length)
    written = {name: int(index) + 1 for name, index in _WRITTEN_INDEX.findall(line)}
    yield from _alike(trial, found, max(written.values(), default=0))
    for path, group in found:
        length = len(group.items)
        least = least_length or written.get(name_of(path), 0)
        more = (length + 1, length + 2, length + 3) if least <= length else (least,)
        yield from (changed(trial, path, of_length(group, count)) for count in more if count <= _LONGEST)


def _alike(trial: Trial, found: list[tuple[Path, Group]], least: int) -> Iterator[Trial]:
    """Lists of lists, all as long as an index that was written asks for."""
    for path in dict.fromkeys(path[:-1] for path, _ in found):
        together = trial
        for other, group in found:
            if other[:-1] == path and other[-1].startswith("[") and len(group.items) < least <= _LONGEST:
                together = changed(together, other, of_length(group, least))
        if together != trial:
            yield together


def _shorter(trial: Trial, outcome: Outcome, by: int, starred: set[str]) -> Iterator[Trial]:
    """Lists that are handed on item by item, to what takes fewer."""
    for path, group in (*lists(trial), *_open_lists(outcome)):
        if name_of(path) in starred and len(group.items) > by > 0:
            yield changed(trial, path, replace(group, items=group.items[:-by]))


def _counted(trial: Trial, found: list[tuple[Path, Group]], wanted: int) -> Iterator[Trial]:
    """Trials in which what may be the number of items is as many."""
    for path, group in found:
        if path[0] == "made" and all(isinstance(part, Size) and part.value < wanted for _, part in group.items):
            yield changed(trial, path, replace(group, items=tuple((key, Size(wanted)) for key, _ in group.items)))
    for path, part in numbers(trial):
        if path[0] == "made" and number_of(part) == wanted - 1:
            yield changed(trial, path, with_number(part, wanted))


def _open_lists(outcome: Outcome) -> Iterator[tuple[Path, Group]]:
    """What was only used as a list so far."""
    for path, use in outcome.uses.items():
        if use.length is not None and not (use.attributes or use.calls or use.ran):
            yield path, sizes_of(use.length, use.open.size)


def lists(trial: Trial) -> list[tuple[Path, Group]]:
    """The lists and tuples that have items."""
    found = list(_lists(trial.made, ("made",)))
    return found + (list(_lists(trial.fed, ("fed",))) if trial.fed is not None else [])


def _lists(guess: Guess, path: Path) -> Iterator[tuple[Path, Group]]:
    if isinstance(guess, Group) and guess.kind in ("list", "tuple") and guess.items:
        yield path, guess
    for key, part in guess.parts:
        yield from _lists(part, (*path, key))


def of_length(group: Group, count: int) -> Group:
    """The list with as many items: its last one is repeated."""
    parts = [part for _, part in group.items]
    parts += parts[-1:] * (count - len(parts))
    return replace(group, items=tuple((f"[{index}]", part) for index, part in enumerate(parts[:count])))


def of_share(trial: Trial, got: int, want: int) -> Iterator[Trial]:
    """Trials in which the items of a list, which make up ``got`` together, are as many as make up ``want``."""
    for path, group in lists(trial):
        count = len(group.items)
        is_uniform = len({part for _, part in group.items}) == 1 and isinstance(group.items[0][1], Tensor)
        if is_uniform and got and count * want % got == 0 and 0 < count * want // got <= _LONGEST:
            yield changed(trial, path, of_length(group, count * want // got))
        sizes = [part.value for _, part in group.items if isinstance(part, Size)]
        if len(sizes) == count and sum(sizes) == want and got % sizes[0] == 0 and 0 < got // sizes[0] <= _LONGEST:
            # Its sum is what did not fit.
            yield changed(trial, path, of_length(group, got // sizes[0]))


def several(tensor: Tensor, count: int) -> Group:
    """As many tensors in a list."""
    return Group("list", tuple((f"[{index}]", tensor) for index in range(count)))


def _several_maps(trial: Trial) -> Iterator[tuple[Path, Group]]:
    if trial.fed is not None:
        yield from lists(trial)
        yield from (
            (("fed", key), part) for key, part in trial.fed.items if isinstance(part, Group) and part.kind == "dict"
        )


def pyramids(trial: Trial) -> Iterator[Trial]:
    """Trials in which the maps of a list have edges that fall by halves, or rise."""
    for path, group in _several_maps(trial):
        maps = [part for _, part in group.items if isinstance(part, Tensor) and len(part.shape) >= 4]
        if len(maps) < 2 or len(maps) < len(group.items) or len({part.shape[2:] for part in maps}) > 1:
            continue
        falling = [_halved(part, index) for index, part in enumerate(maps)]
        rising = [_halved(part, len(maps) - 1 - index) for index, part in enumerate(maps)]
        for parts in (falling, rising):
            if min(parts[0].shape[-1], parts[-1].shape[-1]) > 0:
                items = tuple((key, part) for (key, _), part in zip(group.items, parts, strict=True))
                yield changed(trial, path, replace(group, items=items))


def _halved(tensor: Tensor, times: int) -> Tensor:
    return replace(tensor, shape=(*tensor.shape[:2], *(edge >> times for edge in tensor.shape[2:])))
