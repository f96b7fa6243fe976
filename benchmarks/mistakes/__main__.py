"""Broken models: is each mistake reported where and as what it is?

    python -m benchmarks.mistakes table [--only TEXT ...] [--hosts KIND ...] [--alarms] [--verbose] [--write FOLDER]
    python -m benchmarks.mistakes random [--count N] [--seed N] [--models NAME ...] [--verbose]

``table``: each mistake of ``planted.py`` is planted into a small model, a U-Net and a published model of torchvision,
with inputs that a comment or a call site states, that the search finds, and that it found before the mistake was made.
Reported means: a problem of the expected code and severity on the expected line; where other inputs mend the mistake
and nothing states them, a note whose first words say so. Then the look-alikes (``look_alikes.py``): a problem of FX4xx,
FX6xx or FX9xx is an alarm. ``--alarms`` runs these alone, ``--write`` traces nothing and writes the models with
mistakes, fed as a comment states.

``random``: mistakes in published files (``random_changes.py``), once with inputs that are stated, once with inputs that
the search has to find. Reported means: an error or warning is on the changed line, or names it as a related place; and
for a width, a missing ``return`` or missing parentheses, anywhere in the file.

Exits with 1 if a mistake is not reported, or if there is an alarm.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from pathlib import Path

from benchmarks.mistakes.broken_model import BrokenModel
from benchmarks.mistakes.hosts import INPUTS, KINDS, planted
from benchmarks.mistakes.look_alikes import LOOK_ALIKES
from benchmarks.mistakes.planted import MISTAKES
from benchmarks.mistakes.random_changes import MODELS, random_changes
from benchmarks.mistakes.verdicts import Verdict, verdicts

_OF_TABLE = ("comment", "call site", "searched", "searched before")


def main() -> int:
    options = _parser().parse_args()
    return int(asyncio.run(options.run(options)) > 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mistakes", description=(__doc__ or "").partition("\n")[0]
    )
    commands = parser.add_subparsers(required=True)
    table = commands.add_parser("table", help="mistakes and look-alikes that are planted into three kinds of models")
    table.set_defaults(run=_table)
    table.add_argument("--only", nargs="*", default=[""], help="mistakes whose name has one of these texts")
    table.add_argument("--hosts", nargs="*", default=KINDS, choices=KINDS)
    table.add_argument("--alarms", action="store_true", help="only look-alikes")
    table.add_argument("--write", type=Path, metavar="FOLDER", help="write the models with mistakes, and trace none")
    changes = commands.add_parser("random", help="random mistakes in published models")
    changes.set_defaults(run=_random)
    changes.add_argument("--count", type=int, default=60)
    changes.add_argument("--seed", type=int, default=1)
    changes.add_argument("--models", nargs="*", default=list(MODELS), choices=MODELS)
    for command in (table, changes):
        command.add_argument("--verbose", action="store_true", help="print the problems where a verdict is wrong")
    return parser


async def _table(options: argparse.Namespace) -> int:
    """Return the number of mistakes that are not reported and of alarms."""
    mistakes, look_alikes = (
        list(planted([each for each in table if any(text in each.kind for text in options.only)], options.hosts))
        for table in (MISTAKES, LOOK_ALIKES)
    )
    if options.write is not None:
        _write(mistakes, options.write)
        return 0
    wrong, row = 0, attrgetter("host.kind")
    if not options.alarms:
        wrong += await _traced("mistakes", mistakes, _OF_TABLE, row, options.verbose)
    return wrong + await _traced("look-alikes", look_alikes, _OF_TABLE, row, options.verbose)


async def _random(options: argparse.Namespace) -> int:
    """Return the number of mistakes that are not reported."""
    models = list(random_changes(options.models, options.count, options.seed))
    return await _traced("mistakes", models, ("stated", "searched"), attrgetter("mistake.kind"), options.verbose)


def _write(models: Iterable[BrokenModel], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for broken in models:
        name = f"{broken.host.name} {broken.mistake.kind}".replace(" ", "_")
        text = broken.text.replace("def net():", f"# fxlsp: {broken.host.made}({INPUTS})\ndef net():")
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


async def _traced(
    noun: str, models: Sequence[BrokenModel], ways: Sequence[str], row: Callable[[BrokenModel], str], verbose: bool
) -> int:
    """Print wrong verdicts and the numbers of what is reported; return how many verdicts are wrong.

    Args:
        noun: what the models have.
        models: traced in order.
        ways: a column each.
        row: name of the row in which a model is counted.
        verbose: whether to print the problems of wrong verdicts.
    """
    wrong = 0
    reported: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    async for verdict in verdicts(models, ways):
        for name in (row(verdict.broken), "all"):
            reported[name, verdict.way].append(verdict.is_reported)
        if not verdict.is_right:
            wrong += 1
            _print(verdict, verbose)
    print(f"{'':20}" + "".join(f"{way:>18}" for way in ways))
    for name in dict.fromkeys((*map(row, models), "all")):
        cells = (reported[name, way] for way in ways)
        print(f"{name:20}" + "".join(f"{f'{sum(cell)} of {len(cell)}':>18}" for cell in cells))
    every = [each for way in ways for each in reported["all", way]]
    share = 100 * sum(every) / max(len(every), 1)
    print(f"{noun}: {sum(every)} of {len(every)} reported ({share:.1f} %)")
    return wrong


def _print(verdict: Verdict, verbose: bool) -> None:
    codes = Counter(f"{problem.code} {problem.severity}" for problem in verdict.problems)
    print(f"{'alarm' if verdict.is_reported else 'not reported'}: {verdict.broken}, {verdict.way}  {dict(codes)}")
    for problem in verdict.problems if verbose else ():
        line = None if problem.location is None else problem.location.line
        print(f"    {problem.code} {problem.severity} {line}: {problem.message[:200]!r}")


if __name__ == "__main__":
    raise SystemExit(main())
