"""Recipes that searches have found, by the texts for which they did."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fxlsp.engine.state.snapshot import ModelKey
from fxlsp.report.recipes import Recipe
from fxlsp.report.sizes import Sizes

_MOST_MODELS = 256
_MOST_TEXTS = 512
"""For each model."""

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


class Guesses:
    """Bounded memory of a session: the same text has the same guess, and another text the last one at first."""

    def __init__(self) -> None:
        self._entries: OrderedDict[ModelKey, _Entries] = OrderedDict()
        self._last: OrderedDict[_Model, Recipe] = OrderedDict()

    def remember(self, key: ModelKey, texts: Texts, recipe: Recipe) -> None:
        """Record the recipe of a report."""
        guess = recipe if recipe.source == "search" else None
        entries = self._entries.setdefault(key, OrderedDict())
        self._entries.move_to_end(key)
        place = frozenset(texts.items())
        entries[place] = _Entry(dict(texts), guess)
        entries.move_to_end(place)
        if len(entries) > _MOST_TEXTS:
            entries.popitem(last=False)
        model = _model_of(key)
        if guess is not None and (guess.inputs is not None or model not in self._last):
            self._last[model] = guess
            self._last.move_to_end(model)
        for table in (self._entries, self._last):
            if len(table) > _MOST_MODELS:
                table.popitem(last=False)

    def guess_of(self, key: ModelKey, holds: Holds) -> Recipe | None:
        """Return the recipe with which a search of the present texts begins; None for a search from nothing."""
        entry = self._entry_of(key, holds)
        return self._last.get(_model_of(key)) if entry is None else entry.guess

    def replaced_by(self, key: ModelKey, recipe: Recipe, holds: Holds) -> Recipe | None:
        """Return the last guess, if the one that was found for the present texts has other inputs.

        None if that was found for the same texts before: an edit has been undone.
        """
        last = self._last.get(_model_of(key))
        if last is None or recipe.source != "search" or None in (last.inputs, recipe.inputs):
            return None
        return last if last.inputs != recipe.inputs and self._entry_of(key, holds) is None else None

    def forget(self, path: str | None = None) -> None:
        """Forget the guesses for the models of a file, or all."""
        for key in [key for key in self._entries if path in (None, key.file)]:
            del self._entries[key]
        for model in [model for model in self._last if path in (None, model.file)]:
            del self._last[model]

    def _entry_of(self, key: ModelKey, holds: Holds) -> _Entry | None:
        entries = self._entries.get(key)
        known = () if entries is None else reversed(entries.values())
        return next((entry for entry in known if holds(entry.texts)), None)


def _model_of(key: ModelKey) -> _Model:
    return _Model(key.file, key.name, key.sizes)
