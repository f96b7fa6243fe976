"""The figures of a run, as text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.repositories.checked import Checked, Model

_STATUSES = ("traced", "recovered", "covered", "unshaped", "failed", "skipped")
_EXAMPLES = 3
_REASON_LENGTH = 160
_NAMES = re.compile(r"[\w./]+\.py(:[\w.]+)?|'[^']*'|\"[^\"]*\"")
_NUMBERS = re.compile(r"\d+")


def model_lines(checked: Checked) -> Iterator[str]:
    """Yield a line for each class of one repository."""
    yield f"{checked.name}" + (f": {checked.failure}" if checked.failure else "")
    for model in checked.models:
        recipe = (model.source or "-") + ("" if model.fed else ", no inputs")
        why = f"by {model.covered_by}" if model.covered_by else _one_line(model.reason)
        yield f"  {model.status:<10} {recipe:<20} {model.target}  {why}".rstrip()
    yield ""


def totals(checked: Sequence[Checked]) -> Iterator[str]:
    """Yield the table of all repositories, the sources of recipes and the reasons."""
    models = [model for each in checked for model in each.models]
    yield _row("", "classes", *_STATUSES, "shapes", "strict", "package", "share", "seconds", "MB")
    for each in checked:
        yield _counts(each.name, each.models, each.seconds, each.megabytes)
    if len(checked) > 1:
        peak = max((each.megabytes for each in checked if each.megabytes is not None), default=None)
        yield _counts("all", models, sum(each.seconds for each in checked), peak)
    yield ""
    sources = Counter(model.source or "-" for model in models if model.is_shown and model.status != "covered")
    yield "recipes of the traced: " + ", ".join(f"{source} {count}" for source, count in sources.most_common())
    yield ""
    yield from _reasons(models)


def _counts(name: str, models: Sequence[Model], seconds: float, megabytes: float | None) -> str:
    """Return a row of the table.

    ``shapes``: traced or covered on inputs; ``package``: not, because a package is not installed.
    """
    statuses = Counter(model.status for model in models)
    shown = sum(model.is_shown for model in models)
    shapes = sum(model.is_shown and model.fed for model in models)
    missing = sum(model.missing is not None for model in models)
    share = f"{100 * shown / max(1, len(models) - missing):.1f} %"
    counts = [str(statuses[status]) for status in _STATUSES]
    memory = "?" if megabytes is None else f"{megabytes:.0f}"
    strict = f"{100 * shapes / max(1, len(models)):.1f} %"
    return _row(name, str(len(models)), *counts, str(shapes), strict, str(missing), share, f"{seconds:.1f}", memory)


def _row(name: str, *cells: str) -> str:
    return f"{name:<20}" + "".join(f"{cell:>10}" for cell in cells)


def _reasons(models: Sequence[Model]) -> Iterator[str]:
    """Yield how often each kind of reason occurs among models not shown."""
    examples: dict[str, list[str]] = {}
    for model in models:
        if not model.is_shown:
            kind = f"no package {model.missing}" if model.missing else _kind(model.reason)
            examples.setdefault(f"{model.status}: {kind}", []).append(model.target)
    yield "reasons:"
    for kind, targets in sorted(examples.items(), key=lambda item: -len(item[1])):
        yield f"  {len(targets):>4}  {kind}   e.g. {', '.join(targets[:_EXAMPLES])}"


def _kind(reason: str) -> str:
    """Return a reason without what differs between reasons of one kind.

    These are names, numbers, and the advice of the message.
    """
    text = _one_line(reason).partition(": say how to make it")[0]
    text = re.sub(r"^\S+ needs the arguments? .*", "needs arguments", text)
    return _NUMBERS.sub("N", _NAMES.sub("…", text))[:_REASON_LENGTH]


def _one_line(text: str) -> str:
    return " ".join(text.split())
