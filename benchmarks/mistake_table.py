"""Planted mistakes, each in three models and four ways of finding inputs: is each reported where and as what it is?

    python -m benchmarks.mistake_table [--only TEXT ...] [--hosts KIND ...] [--alarms] [--verbose] [--write FOLDER]

Each mistake (``planted/mistakes.py``) is planted into a small model, a U-Net and a published model of torchvision, with
inputs that a comment or a call site states, that the search finds, and that it found before the mistake was made.
Reported means: a problem of the expected code and severity on the expected line; where other inputs mend the mistake
and nothing states them, a note whose first words say so. Then the look-alikes
(``planted/look_alikes.py``): a problem of FX4xx, FX6xx or FX9xx is an alarm. ``--alarms`` runs these alone, ``--write``
traces nothing and writes the models with mistakes, fed as a comment states.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.planted.hosts import INPUTS, MARK, Host, hosts
from benchmarks.planted.look_alikes import LOOK_ALIKES
from benchmarks.planted.mistakes import MISTAKES, Mistake
from fxlsp.engine.connection.supervisor_client import SupervisorClient
from fxlsp.report.codes import GRAPH_FAILS, severity_of
from fxlsp.report.problems import Problem
from fxlsp.wire.messages import Limits, RecipeGuess, RecipeRequest, TraceRequest, TraceTarget

_MADE = "net()"
WAYS: Mapping[str, RecipeRequest] = {
    "comment": RecipeRequest(_MADE, INPUTS, "comment"),
    "call site": RecipeRequest(_MADE, INPUTS, "call-site"),
    "searched": RecipeRequest(_MADE, None, "option"),
    "searched before": RecipeRequest(_MADE, None, "option", guess=RecipeGuess(_MADE, INPUTS)),
}
MAY_WORK = "With other inputs this may work: "
_ALARMS = ("FX4", "FX6", "FX9")


@dataclass(frozen=True)
class Planted:
    """Text of a model with a snippet, and the line on which a problem belongs."""

    name: str
    host: str
    text: str
    line: int | None
    """None if no line is marked: then the place is the constructor of the root."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.mistake_table")
    parser.add_argument("--only", nargs="*", default=[""], help="mistakes whose name has one of these texts")
    parser.add_argument("--hosts", nargs="*", default=list(hosts()), choices=list(hosts()))
    parser.add_argument("--alarms", action="store_true", help="only look-alikes")
    parser.add_argument("--verbose", action="store_true", help="print what is reported in the place of a mistake")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write the models with mistakes, and trace none")
    options = parser.parse_args()
    if options.write is not None:
        return _write(options)
    with tempfile.TemporaryDirectory() as folder:
        wrong = asyncio.run(_run(options, Path(folder).resolve()))
    return int(wrong > 0)


def _write(options: argparse.Namespace) -> int:
    options.write.mkdir(parents=True, exist_ok=True)
    chosen = {name: each for name, each in MISTAKES.items() if any(text in name for text in options.only)}
    for planted in planted_mistakes(chosen, options.hosts):
        name = f"{planted.host.partition(':')[2]} {planted.name}".replace(" ", "_")
        text = planted.text.replace("def net():", f"# fxlsp: {_MADE}({INPUTS})\ndef net():")
        (options.write / f"{name}.py").write_text(text, encoding="utf-8")
    return 0


async def _run(options: argparse.Namespace, folder: Path) -> int:
    tracing = Tracing(folder)
    chosen = {name: each for name, each in MISTAKES.items() if any(text in name for text in options.only)}
    fine = {name: each for name, each in LOOK_ALIKES.items() if any(text in name for text in options.only)}
    try:
        missed = 0 if options.alarms else await _table(tracing, chosen, options)
        return missed + await _alarms(tracing, fine, options)
    finally:
        await tracing.close()


async def _table(tracing: Tracing, chosen: Mapping[str, Mistake], options: argparse.Namespace) -> int:
    reported: Counter[tuple[str, str]] = Counter()
    missed: Counter[tuple[str, str]] = Counter()
    for planted in planted_mistakes(chosen, options.hosts):
        mistake = chosen[planted.name]
        for way, recipe in WAYS.items():
            problems = await tracing.problems(planted, recipe)
            cell = planted.host.partition(":")[0], way
            is_note = recipe.inputs is None and planted.host.partition(":")[2] in mistake.mended_in
            if any(is_it(problem, mistake, planted, is_note) for problem in problems):
                reported[cell] += 1
                continue
            missed[cell] += 1
            print(f"not reported: {planted.name} in {planted.host}, {way} ({mistake.code}, line {planted.line})")
            if options.verbose:
                _print(problems)
    total = reported.total() + missed.total()
    print(f"{'':10}" + "".join(f"{way:>18}" for way in WAYS))
    for kind in options.hosts:
        cells = [f"{reported[kind, way]} of {reported[kind, way] + missed[kind, way]}" for way in WAYS]
        print(f"{kind:10}" + "".join(f"{cell:>18}" for cell in cells))
    share = 100 * reported.total() / max(total, 1)
    print(f"{len(chosen)} mistakes: {reported.total()} of {total} reported as they are ({share:.1f} %)")
    return missed.total()


async def _alarms(tracing: Tracing, fine: Mapping[str, tuple[str, str]], options: argparse.Namespace) -> int:
    alarms = runs = 0
    for kind in options.hosts:
        for number, (name, (init, forward)) in enumerate(fine.items()):
            planted = _planted(name, kind, _host(kind, number), Mistake(init, forward, ""))
            for way, recipe in WAYS.items():
                found = [
                    problem
                    for problem in await tracing.problems(planted, recipe)
                    if problem.code.startswith(_ALARMS)
                    and problem.severity in ("error", "warning")
                    # A graph that fails where its model catches the failure is what torch.fx makes of it.
                    and problem.code != GRAPH_FAILS
                ]
                runs += 1
                alarms += bool(found)
                if found:
                    print(f"alarm: {name} in {planted.host}, {way}")
                    _print(found)
    print(f"{len(fine)} look-alikes: {alarms} alarms in {runs} traces")
    return alarms


def _print(problems: Iterable[Problem]) -> None:
    for problem in problems:
        line = None if problem.location is None else problem.location.line
        print(f"    {problem.code} {problem.severity} {line}: {problem.message[:200]!r}")


def planted_mistakes(chosen: Mapping[str, Mistake], kinds: Iterable[str]) -> Iterator[Planted]:
    """Yield each mistake in one host of each kind."""
    for kind in kinds:
        for number, (name, mistake) in enumerate(chosen.items()):
            yield _planted(name, kind, _host(kind, number), mistake)


def _host(kind: str, number: int) -> Host:
    return hosts()[kind][number % len(hosts()[kind])]


def _planted(name: str, kind: str, host: Host, mistake: Mistake) -> Planted:
    """Return the text with a snippet after which ``forward`` returns, so that nothing fails behind it."""
    ends = any(line.startswith("return ") for line in mistake.forward.splitlines())
    forward = mistake.forward if ends else f"{mistake.forward}\nreturn {{x}}"
    text = host.planted(mistake.init, forward, mistake.replaced)
    marked = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith(MARK)]
    return Planted(name, f"{kind}:{host.name}", text.replace(MARK, ""), marked[0] if marked else None)


def is_it(problem: Problem, mistake: Mistake, planted: Planted, is_note: bool) -> bool:
    """Return whether a problem reports a planted mistake as what it is, and where it is.

    ``is_note``: as one that other inputs may mend.
    """
    if is_note and not (problem.severity == "info" and problem.message.startswith(MAY_WORK)):
        return False
    severity = "info" if is_note else mistake.severity
    if (problem.code, problem.severity) != (mistake.code, severity) or problem.location is None:
        return False
    if planted.line is None:
        return problem.location.function == "__init__"
    return problem.location.line == planted.line


class Tracing:
    """Supervisor that traces planted models, each in a file of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._supervisor = SupervisorClient(sys.executable)
        self._count = 0

    async def close(self) -> None:
        await self._supervisor.close()

    async def problems(self, planted: Planted, recipe: RecipeRequest) -> list[Problem]:
        """Return the problems of a model, or its failure as a problem."""
        self._count += 1
        path = self._folder / f"planted_{self._count}.py"
        path.write_text(planted.text, encoding="utf-8")
        request = TraceRequest(
            TraceTarget("net", file=str(path)), recipe, roots=(str(self._folder),), limits=Limits(60, 8000)
        )
        outcome = await self._supervisor.trace(request)
        if outcome.report is not None:
            return list(outcome.report.problems)
        failure = outcome.failure
        assert failure is not None
        return [Problem(failure.code, severity_of(failure.code), failure.message, failure.location, failure.related)]


if __name__ == "__main__":
    raise SystemExit(main())
