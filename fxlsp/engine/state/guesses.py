"""Recipes that searches have found, by the texts for which they did."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from fxlsp.engine.state.snapshot import ModelKey
from fxlsp.report.recipes import Recipe
from fxlsp.report.sizes import Sizes

_MOST_MODELS = 256
_MOST_PROGRAMS = 512
"""For each model."""
_MOST_TEXTS = 16
"""For each program of a model's own file: they differ in other files."""

Texts = Mapping[str, str]
"""Digest of each text on which a trace depends, by path."""
Holds = Callable[[Texts], bool]
"""Whether texts are the present programs."""


@dataclass(frozen=True, slots=True)
class _Model:
    """A model whatever its recipe is, since one that is written gives way to a guess when it is deleted."""

    file: str
    name: str
    sizes: Sizes


@dataclass(frozen=True, slots=True)
class _Entry:
    texts: Texts
    guess: Recipe | None
    """None if nothing was guessed: the recipe was written, or the search had no result."""


_Entries = OrderedDict[frozenset[tuple[str, str]], _Entry]
"""By the items of their texts, the newest last."""
_Programs = OrderedDict[str, _Entries]
"""By the program of the model's own file, the newest last: however many there are, one is looked up."""


_NO_ENTRIES: _Entries = OrderedDict()
_NO_PROGRAMS: _Programs = OrderedDict()
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Guesses:
    """Bounded memory of a session: the same text has the same guess, and another text the last one at first."""

    def __init__(self) -> None:
        self._programs: OrderedDict[ModelKey, _Programs] = OrderedDict()
        self._last: OrderedDict[_Model, Recipe] = OrderedDict()

    def remember(self, key: ModelKey, program: str, texts: Texts, recipe: Recipe) -> None:
        """Record the recipe of a report.

        Args:
            key: the model.
            program: the digest of its file's text without comments and layout.
            texts: digests of the texts of the report.
            recipe: what made and fed the model.
        """
        guess = recipe if recipe.source == "search" else None
        programs = self._programs.setdefault(key, OrderedDict())
        entries = programs.setdefault(program, OrderedDict())
        place = frozenset(texts.items())
        entries[place] = _Entry(dict(texts), guess)
        model = _model_of(key)
        if guess is not None and (guess.inputs is not None or model not in self._last):
            self._last[model] = guess
            _shorten(self._last, model, _MOST_MODELS)
        _shorten(entries, place, _MOST_TEXTS)
        _shorten(programs, program, _MOST_PROGRAMS)
        _shorten(self._programs, key, _MOST_MODELS)

    def guess_of(self, key: ModelKey, programs: tuple[str, ...], holds: Holds) -> Recipe | None:
        """Return the recipe with which a search of the present texts begins; None for a search from nothing.

        Args:
            key: the model.
            programs: digests of its file's text with comments, as for a closed file, and without; none if not known.
            holds: whether texts are the present ones.
        """
        remembered = self._programs.get(key, _NO_PROGRAMS)
        present = [remembered.get(each, _NO_ENTRIES) for each in programs] if programs else [*remembered.values()]
        known = (entry for entries in reversed(present) for entry in reversed(entries.values()))
        entry = next((entry for entry in known if holds(entry.texts)), None)
        return self._last.get(_model_of(key)) if entry is None else entry.guess

    def replaced_by(self, key: ModelKey, program: str, texts: Texts, recipe: Recipe) -> Recipe | None:
        """Return the last guess, if the one that was found for these texts has other inputs.

        None if that was found for the same texts before: an edit has been undone.
        """
        last = self._last.get(_model_of(key))
        if last is None or recipe.source != "search" or None in (last.inputs, recipe.inputs):
            return None
        known = self._programs.get(key, _NO_PROGRAMS).get(program, _NO_ENTRIES)
        return last if last.inputs != recipe.inputs and frozenset(texts.items()) not in known else None

    def forget(self, path: str | None = None) -> None:
        """Forget the guesses for the models of a file, or all."""
        for key in [key for key in self._programs if path in (None, key.file)]:
            del self._programs[key]
        for model in [model for model in self._last if path in (None, model.file)]:
            del self._last[model]


def _model_of(key: ModelKey) -> _Model:
    return _Model(key.file, key.name, key.sizes)


def _shorten(table: OrderedDict[_Key, _Value], newest: _Key, most: int) -> None:
    table.move_to_end(newest)
    while len(table) > most:
        table.popitem(last=False)
