"""What modules return that are handed to a constructor: several tensors, by position, key or attribute."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from ..failures import text_of
from .attempts import Outcome
from .guesses import Guess, Open, Path, Returning, Text, Trial, changed, leaves
from .names import IDENTITY, RETURNS_FIRST, name_of

_MOST = 4
"""Modules that are tried."""
_Change = Callable[[Returning], Returning]
_UNPACKED = re.compile(r"values to unpack \(expected (?:at least )?(\d+)")
_NO_ATTRIBUTE = re.compile(
    r"'(?:FakeTensor|Tensor|types\.SimpleNamespace|SimpleNamespace)' object has no attribute '(\w+)'"
)
_NO_ITEMS = re.compile(r"values expected sparse tensor layout|Tensor' object has no attribute '(?:items|keys)'")
"""What is said where the items of a dict are asked for."""
_NO_KEY = re.compile(r"invalid data type 'str'|valid indices \(got str|indices must be")


def read(trial: Trial, outcome: Outcome, words: set[str]) -> Iterator[Trial]:
    """Trials in which a module returns what the error asks for; first those that the failing line names."""
    change = _wanted(outcome)
    if change is None:
        return
    handed_in = [item for item in leaves(trial) if _is_module(*item, outcome)]
    for path, part in sorted(handed_in, key=lambda item: name_of(item[0]) not in words)[:_MOST]:
        other = change(part if isinstance(part, Returning) else Returning())
        beside = [each for each, _ in handed_in if each[:-1] == path[:-1] and re.fullmatch(r"\[\d+\]", each[-1])]
        together = trial
        for each in beside if path in beside else ():
            # Modules in one list are called alike.
            together = changed(together, each, other)
        if together != trial:
            yield together
        yield changed(trial, path, other)


def _wanted(outcome: Outcome) -> _Change | None:
    """How what a module returns has to change; None if the error does not tell."""
    error = outcome.error
    text = "" if error is None else text_of(error)
    if (match := _UNPACKED.search(text)) is not None:
        count = int(match.group(1))
        return lambda returning: Returning(count=count)
    if (match := _NO_ATTRIBUTE.search(text)) is not None and not _NO_ITEMS.search(text):
        name = match.group(1)
        return lambda returning: replace(Returning(), attributes=(*returning.attributes, name))
    key = error.args[0] if isinstance(error, KeyError) and error.args else None
    if key is None and _NO_KEY.search(text) and outcome.failing is not None:
        key = next((arg for arg in outcome.failing.args[1:] if isinstance(arg, str)), None)
    if key is None and _NO_ITEMS.search(text):
        key = "first"
    if isinstance(key, str):
        return lambda returning: replace(Returning(), keys=(*returning.keys, key))
    return None


def _is_module(path: Path, part: Guess, outcome: Outcome) -> bool:
    if path[0] != "made":
        return False
    use = outcome.uses.get(path) if isinstance(part, Open) else None
    return isinstance(part, Returning) or part in (Text(IDENTITY), Text(RETURNS_FIRST)) or bool(use and use.ran)
