"""Problems of one cause at several places of a file, for lists of problems that shall name it once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fxlsp.ide.causes import ALSO_HERE, Cause, Symptom, cause_of
from fxlsp.ide.problems import FileProblem, Related
from fxlsp.ide.render.numbers import counted
from fxlsp.source.text.documents import Document


def listed_once(path: str, document: Document | None, problems: Iterable[FileProblem]) -> list[FileProblem]:
    """Return the problems of a file, each cause with its own severity once.

    Its other places are hints, which editors mark in the text but leave out of their lists; the first place names them.
    """
    shown = list(problems)
    groups: dict[Cause, list[int]] = {}
    for index, problem in enumerate(shown):
        cause = cause_of(_symptom(path, problem), document)
        groups.setdefault((problem.severity, *cause), []).append(index)
    for first, *others in groups.values():
        if others:
            shown[first] = _with_places(path, shown[first], [shown[index] for index in others])
        for index in others:
            shown[index] = replace(shown[index], severity="hint")
    return shown


def _symptom(path: str, problem: FileProblem) -> Symptom:
    origin = (problem.related[0].path, problem.related[0].span) if problem.related else None
    return Symptom(problem.code, problem.message, problem.model, path, problem.span, origin)


def _with_places(path: str, problem: FileProblem, others: Sequence[FileProblem]) -> FileProblem:
    end = "" if problem.message.endswith((".", "?", "!", ":")) else "."
    places = tuple(Related(ALSO_HERE, path, other.span) for other in others)
    message = f"{problem.message}{end}\nAlso at {counted(len(places), 'more place')} of this file."
    return replace(problem, message=message, related=(*problem.related, *places))
