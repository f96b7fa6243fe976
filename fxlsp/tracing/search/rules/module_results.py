"""What modules return that are handed to a constructor: several tensors, by position, key or attribute."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from ..evidence import Evidence, unpacked_names
from ..priors.tables import IDENTITY
from ..synthesis import RETURNS_FIRST
from ..trials.values import Edit, Guess, Open, Path, Returning, Text, is_item, leaves, name_of
from .registry import rule

_MOST = 4
"""Modules that are tried."""
_Change = Callable[[Returning], Returning]
_NO_ATTRIBUTE = re.compile(
    r"'(?:FakeTensor|Tensor|types\.SimpleNamespace|SimpleNamespace)' object has no attribute '(\w+)'"
)
_NO_ITEMS = re.compile(r"values expected sparse tensor layout|Tensor' object has no attribute '(?:items|keys)'")
"""Words of errors where the items of a dict are asked for."""
_NO_KEY = re.compile(r"invalid data type 'str'|valid indices \(got str|indices must be")


@rule("result of a module", "omitted", lambda evidence: evidence.is_called)
def _returned(evidence: Evidence) -> Iterator[Edit]:
    """Make a module that was handed in return what the error asks for; first those that the failing line names."""
    change, trial = _wanted(evidence), evidence.trial
    if change is None:
        return
    handed_in = [item for item in leaves(trial) if _is_module(*item, evidence)]
    for path, part in sorted(handed_in, key=lambda item: name_of(item[0]) not in evidence.words)[:_MOST]:
        other = change(part if isinstance(part, Returning) else Returning())
        beside = [each for each, _ in handed_in if is_item(path[-1]) and each[:-1] == path[:-1] and is_item(each[-1])]
        if beside:
            # Modules in one list are called alike.
            yield dict.fromkeys(beside, other)
        yield {path: other}


def _wanted(evidence: Evidence) -> _Change | None:
    """Return how the result of a module has to change; None if the error does not say."""
    error, text, failing = evidence.error, evidence.text, evidence.outcome.failing
    count = unpacked_names(text, starred=True)
    if count is not None:
        return lambda returning: Returning(count=count)
    if (match := _NO_ATTRIBUTE.search(text)) is not None and not _NO_ITEMS.search(text):
        name = match.group(1)
        return lambda returning: replace(Returning(), attributes=(*returning.attributes, name))
    key = error.args[0] if isinstance(error, KeyError) and error.args else None
    if key is None and _NO_KEY.search(text) and failing is not None:
        key = next((arg for arg in failing.args[1:] if isinstance(arg, str)), None)
    if key is None and _NO_ITEMS.search(text):
        key = "first"
    if isinstance(key, str):
        return lambda returning: replace(Returning(), keys=(*returning.keys, key))
    return None


def _is_module(path: Path, part: Guess, evidence: Evidence) -> bool:
    if path[0] != "init":
        return False
    use = evidence.uses.get(path) if isinstance(part, Open) else None
    return isinstance(part, Returning) or part in (Text(IDENTITY), Text(RETURNS_FIRST)) or bool(use and use.ran)
