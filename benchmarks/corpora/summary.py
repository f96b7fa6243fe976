"""The figures of a run, as text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median

from benchmarks.corpora.comparison import Compared, reason

_SHOWN = 400
_EXAMPLES = 3


def lines(all_cases: Sequence[Compared]) -> Iterator[str]:
    """Yield everything that is reported of ``all_cases``."""
    known = [case for case in all_cases if not case.reference]
    yield f"{len(all_cases)} cases, {len(known)} with a reference"
    yield from _kinds("without a reference", ((case.key, _short(case.reference)) for case in all_cases))
    yield ""
    yield from _tracing(known)
    yield ""
    yield from _running([case for case in known if case.runs])
    yield from _errors([case for case in known if case.eager_error])
    yield ""
    yield from _timing([case for case in known if case.timing_ms])


def _tracing(known: Sequence[Compared]) -> Iterator[str]:
    yield "TRACING"
    answered = [case for case in known if not case.failure]
    yield _share("a report", answered, known)
    yield from _kinds("no report", ((case.key, _short(case.failure)) for case in known))
    for what in ("mode", "verdict", "type", "line", "nodes"):
        fitting = [case for case in known if not case.failure and what not in map(reason, case.differences)]
        yield _share(f"same {what}", fitting, known)
    yield _share("all the same", [case for case in answered if not case.differences], known)
    yield _share("same message", [case for case in answered if not case.differences and not case.notes], known)
    yield _share("a recovering pass that ends", [case for case in answered if not case.unended], known)
    yield from _listed("differences", known, lambda case: case.differences)
    yield from _listed("no end", known, lambda case: case.unended)


def _running(runs: Sequence[Compared]) -> Iterator[str]:
    yield "RUNNING (of the models that run eagerly)"
    for name, part in (
        ("traceable", [case for case in runs if case.traceable]),
        ("not traceable", [case for case in runs if not case.traceable]),
        ("all", runs),
    ):
        whole = [case for case in part if not (case.failure or case.misses or case.wrong)]
        yield _share(f"{name}: mapped whole", whole, part)
        yield _share(f"{name}: nothing opaque", [case for case in part if not case.failure and not case.opaque], part)
        yield _share(f"{name}: no wrong shape", [case for case in part if not case.wrong], part)
        yield _share(f"{name}: complete", [case for case in part if case.complete], part)
    yield from _listed("wrong shapes", runs, lambda case: case.wrong)
    yield from _listed("false alarms", runs, lambda case: case.alarms)
    first = [(case.key, _without_line(case.misses[0])) for case in runs if case.misses and not case.wrong]
    yield from _kinds("first misses", first)


def _errors(failing: Sequence[Compared]) -> Iterator[str]:
    answered = [case for case in failing if not case.failure]
    found = [case for case in answered if case.error_found]
    yield _share("runs that raise: a problem stands on that line", found, failing)


def _timing(timed: Sequence[Compared]) -> Iterator[str]:
    """Point 5: what recovery and checks cost beside the plain pass and its values."""
    yield "TIME (medians)"
    stages = dict.fromkeys(stage for case in timed for stage in case.timing_ms)
    for stage in stages:
        yield f"  {stage:<12} {median(case.timing_ms.get(stage, 0.0) for case in timed):8.1f} ms"
    plain = ("trace", "values")
    added = [stage for stage in stages if stage not in ("load", "construct", "total")]
    for name, traceable in (("traceable", True), ("not traceable", False)):
        ratios = [
            sum(case.timing_ms.get(stage, 0.0) for stage in added)
            / max(sum(case.timing_ms.get(stage, 0.0) for stage in plain), 0.001)
            for case in timed
            if case.traceable == traceable
        ]
        if ratios:
            yield f"  ({' + '.join(added)}) / ({' + '.join(plain)}), {name}: {median(ratios):.2f}"


def _share(what: str, part: Sequence[Compared], whole: Sequence[Compared]) -> str:
    return f"  {what:<48} {len(part):>5} of {len(whole):>5} {100 * len(part) / max(len(whole), 1):6.2f} %"


def _listed(what: str, cases: Iterable[Compared], texts: Callable[[Compared], list[str]]) -> Iterator[str]:
    found = [(case.key, text) for case in cases for text in texts(case)[:2]]
    if found:
        yield f"  {what}:"
        yield from (f"    {key}  {text[:_SHOWN]}" for key, text in found)


def _kinds(what: str, found: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield how often each kind occurs, with examples."""
    examples: dict[str, list[str]] = {}
    for key, text in found:
        if text:
            examples.setdefault(text, []).append(key)
    if examples:
        yield f"  {what}:"
    for text, count in Counter({text: len(keys) for text, keys in examples.items()}).most_common(40):
        yield f"    {count:>5}  {text[:140]}   e.g. {', '.join(examples[text][:_EXAMPLES])}"


def _short(text: str) -> str:
    """Return a text without what differs between cases of a kind: numbers."""
    return re.sub(r"\d+", "N", text.replace("\n", " "))[:110]


def _without_line(text: str) -> str:
    return text.partition(" at ")[0]
