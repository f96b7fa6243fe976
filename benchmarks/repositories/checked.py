"""Results of one check of a repository."""

from __future__ import annotations

import os
import re
from dataclasses import asdict, dataclass
from typing import Any

SHOWN = ("traced", "recovered", "covered")
"""Statuses of a class whose ``forward`` was followed."""

_MISSING = re.compile(r"No module named '([\w.]+)'|Failed to import .* '([\w.]+)'")


@dataclass(frozen=True)
class Model:
    """One class with a ``forward``, or one factory or instance."""

    target: str
    status: str
    reason: str
    source: str | None
    """Of the recipe, None if there was none."""
    fed: bool
    """Whether inputs were known: without them there are nodes, but no shapes."""
    covered_by: str | None
    missing: str | None
    """The missing package without which the model cannot be loaded."""

    @classmethod
    def from_json(cls, model: dict[str, Any], repository: str) -> Model:
        """Return the model of an entry of ``models`` in ``fxlsp check --format json``."""
        recipe = model["recipe"] or {}
        fed = model["status"] == "covered" or recipe.get("inputs") is not None
        shown = model["status"] in SHOWN
        missing = None if shown else _missing_package(model["reason"], repository)
        source = recipe.get("source")
        return cls(model["target"], model["status"], model["reason"], source, fed, model["covered_by"], missing)

    @property
    def is_shown(self) -> bool:
        return self.status in SHOWN


@dataclass(frozen=True)
class Checked:
    """One repository."""

    name: str
    models: tuple[Model, ...]
    failure: str | None
    """Why there is no result at all."""
    seconds: float
    megabytes: float | None
    """None where it cannot be measured."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def _missing_package(reason: str, repository: str) -> str | None:
    """Return the package that is not installed according to a reason.

    None if the reason is another, or the package belongs to the repository.
    """
    found = _MISSING.search(reason)
    if found is None:
        return None
    package = (found[1] or found[2]).partition(".")[0]
    own = any(package in folders or f"{package}.py" in files for _, folders, files in os.walk(repository))
    return None if own else package
