"""What the names into which a shape is unpacked say of the order of its dimensions."""

from __future__ import annotations

import dis
import re
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType, FrameType

from .layers import BATCH
from .names import IMAGE, SEQUENCE, VOLUME

UNKNOWN = 0
"""The size of the dimension of which nothing is known: that of channels."""

_CHANNELS = re.compile(r"c|ch|chn|chan|channels?|(num|n|in)_?(c|ch|channels?)|nc|c_?in|inp?_c", re.IGNORECASE)
_FEATURES = re.compile(
    r"d|dims?|e|hidden(_?(size|dim))?|(embed|feat|model|input|in)_?dim|d_model|features?", re.IGNORECASE
)
"""Channels too, but where there is a better name for them a depth."""
_BATCHES = re.compile(r"b|bs|bsz|batch(_?size)?|n_?batch(es)?|nb", re.IGNORECASE)
_STEPS = re.compile(
    r"t|l|s|n|len(gth)?|(seq|src|tgt)?_?len(gth)?|seq|time|steps?|frames?|(num|n)_?(frames|steps|points|tokens|nodes)|nt|tokens?",
    re.IGNORECASE,
)
_EDGES = re.compile(r"h|w|height|width|_?[hw]_?(in)?|in_?[hw]|img_?[hw]", re.IGNORECASE)


def shape_of(names: Sequence[str]) -> tuple[int, ...] | None:
    """The shape that is unpacked into ``names``, with channels :data:`UNKNOWN`; None if they do not tell.

    Which dimension is the channels' is what matters: every layer has its own place for it.
    """
    if len(names) < 3:
        return None
    is_batch_second = bool(_BATCHES.fullmatch(names[1])) and not _BATCHES.fullmatch(names[0])
    places = [index for index in range(1, len(names)) if not (index == 1 and is_batch_second)]
    channels = _only(_CHANNELS, names, places)
    if channels is None:
        channels = _only(_FEATURES, names, places)
    if channels is None:
        return None
    first = (SEQUENCE, BATCH) if is_batch_second else (BATCH,)
    rest = [UNKNOWN if index == channels else _size(names[index], len(names)) for index in places]
    return (*first, *rest)


def _only(pattern: re.Pattern[str], names: Sequence[str], places: list[int]) -> int | None:
    found = [index for index in places if pattern.fullmatch(names[index])]
    return found[0] if len(found) == 1 else None


def _size(name: str, rank: int) -> int:
    if _STEPS.fullmatch(name) or rank == 3:
        return SEQUENCE
    return IMAGE if _EDGES.fullmatch(name) or rank < 5 else VOLUME


def unpacked_into(frame: FrameType) -> tuple[str, ...]:
    """The names of the local variables into which ``frame`` unpacks right now; none if it does not."""
    return _stored(frame.f_code, frame.f_lasti)


@lru_cache(maxsize=64)
def _stored(code: CodeType, at: int) -> tuple[str, ...]:
    following = (each for each in dis.get_instructions(code) if each.offset >= at)
    unpacking = next(following, None)
    if unpacking is None or unpacking.opname != "UNPACK_SEQUENCE":
        return ()
    names: list[str] = []
    for each in following:
        if each.opname == "CACHE":
            continue
        if not each.opname.startswith("STORE_FAST") or len(names) >= (unpacking.arg or 0):
            break
        # Python 3.13 stores two at once.
        names += each.argval if isinstance(each.argval, tuple) else (each.argval,)
    return tuple(names) if len(names) == unpacking.arg else ()
