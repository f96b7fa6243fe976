"""Verdicts of torch.export and torch.compile, held against torch itself on models of libraries.

    python -m benchmarks.frontends torchvision timm transformers

Each model is asked about by ``fxlsp trace --frontends fx,export,compile``, and exported and compiled by torch in a
process without fxlsp (``corpora/frontend_reference.py``), on the same inputs with a batch of two. ``--python`` is the
interpreter that has the packages. Printed are a line for each model that differs, how many verdicts agree, how many
failures are placed on the line that torch's own stack names, in which ways the three verdicts differ, and the median of
the seconds that a question takes. A model that fails in a plain run does not count.

Of each front end what counts is whether it takes the model whole: ``torch.export`` with any batch, with the given sizes
or not at all, ``torch.compile(fullgraph=True)`` or not.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.corpora.cases import Case, chosen
from benchmarks.corpora.workspace import REPOSITORY

Json = dict[str, Any]
LIBRARIES = ("torchvision", "timm", "transformers")
_OF_EXPORT = {"dynamic": "dynamic", "fixed": "given", "limited": "given", None: "given"}


@dataclass
class Answered:
    """One model, by fxlsp and by torch."""

    case: Case
    reference: Json
    verdicts: dict[str, Json] = field(default_factory=dict)
    """fxlsp's, by front end."""
    failure: str = ""
    """Why fxlsp has none."""
    seconds: float = 0.0
    """Of fxlsp, with the start of its processes and the trace."""

    @property
    def counts(self) -> bool:
        return bool(self.reference.get("eager", {}).get("verdict") == "ok")

    def ours(self, frontend: str) -> str:
        """Return fxlsp's verdict in the words of the reference."""
        verdict = self.verdicts.get(frontend)
        if verdict is None:
            return self.failure or "no answer"
        if verdict["verdict"] == "ok" and frontend == "export":
            return _OF_EXPORT[verdict.get("batch")]
        return str(verdict["verdict"])

    def theirs(self, frontend: str) -> str:
        return str(self.reference[frontend]["verdict"])

    def is_placed(self, frontend: str) -> bool | None:
        """Return whether a problem has the line that torch names; None if there is nothing to compare."""
        place = self.reference[frontend].get("at")
        if place is None or self.ours(frontend) != "problem":
            return None
        locations = [each["location"] for each in self.verdicts[frontend]["problems"] if each["location"]]
        return any(_is_at(each, place) for each in locations)

    def has_columns(self, frontend: str) -> bool:
        return all(each["location"] and "column" in each["location"] for each in self.verdicts[frontend]["problems"])


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    listed = (_cases(library, options.python) for library in options.libraries)
    cases = [case for each in listed for case in chosen(each, options.cases, options.every)]
    print(f"{len(cases)} models", file=sys.stderr)
    answered: list[Answered] = []
    with ThreadPoolExecutor(options.jobs) as threads, open(options.json or os.devnull, "w", encoding="utf-8") as out:
        for each in threads.map(lambda case: _answered(case, options.python), cases):
            answered.append(each)
            out.write(json.dumps({"key": each.case.key, "reference": each.reference, "verdicts": each.verdicts}) + "\n")
            out.flush()
            for line in _differences(each):
                print(line, flush=True)
    for line in _summary(answered):
        print(line)
    return 0 if not any(_differences(each) for each in answered) else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.frontends", description="Front ends held against torch.")
    parser.add_argument("libraries", nargs="+", choices=LIBRARIES)
    parser.add_argument("--python", metavar="PATH", default=sys.executable, help="interpreter with the libraries")
    parser.add_argument("--cases", nargs="*", default=[], metavar="NAME", help="these alone")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th model")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="models at once")
    parser.add_argument("--json", metavar="OUT", help="write a line of JSON for each model")
    return parser.parse_args(arguments)


def _cases(library: str, python: str) -> list[Case]:
    command = [python, "-m", "benchmarks.corpora.library_models", library]
    done = subprocess.run(command, stdout=subprocess.PIPE, env=_environment(), check=False, timeout=600)
    return [Case(**each) for each in json.loads(done.stdout or b"[]")]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}


def _answered(case: Case, python: str) -> Answered:
    command = [python, "-m", "benchmarks.corpora.frontend_reference"]
    done = subprocess.run(
        command, input=json.dumps(case.to_json()).encode(), capture_output=True, env=_environment(), check=False
    )
    answered = Answered(case, json.loads(done.stdout or b"{}"))
    if answered.counts:
        _ask(answered, python)
    return answered


def _ask(answered: Answered, python: str) -> None:
    case = answered.case
    asked = ["--init", case.init, "--inputs", str(case.inputs), "--frontends", "fx,export,compile"]
    command = [sys.executable, "-m", "fxlsp", "trace", case.target, *asked, "--format", "json", "--python", python]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, env=_environment(), check=False)
    answered.seconds = time.monotonic() - began
    try:
        answered.verdicts = {each["frontend"]: each for each in json.loads(done.stdout)["frontends"]}
    except (ValueError, KeyError):
        answered.failure = done.stderr.decode(errors="replace").strip().rpartition("\n")[2] or "no verdicts"


def _is_at(location: Json, place: Sequence[Any]) -> bool:
    """Return whether a location is that of torch, which names one line of an expression of several."""
    same = Path(location["file"]).resolve() == Path(place[0]).resolve()
    return same and location["line"] <= place[1] <= max(location.get("end_line") or 0, location["line"])


def _differences(each: Answered) -> list[str]:
    if not each.counts:
        return []
    lines = []
    for frontend in ("export", "compile"):
        ours, theirs = each.ours(frontend), each.theirs(frontend)
        if ours != theirs:
            lines.append(f"{each.case.key}: {frontend} is {ours}, by torch {theirs}: {_message(each, frontend)}")
        elif each.is_placed(frontend) is False:
            lines.append(f"{each.case.key}: {frontend} not at {each.reference[frontend]['at']}")
    return lines


def _message(each: Answered, frontend: str) -> str:
    problems = each.verdicts.get(frontend, {}).get("problems") or [{"headline": ""}]
    return f"{problems[0]['headline'][:150]} | {each.reference[frontend].get('message', '')[:150]}"


def _summary(answered: Sequence[Answered]) -> Iterator[str]:
    counted = [each for each in answered if each.counts]
    yield f"{len(counted)} of {len(answered)} models run eagerly"
    for frontend in ("export", "compile"):
        agreeing = [each for each in counted if each.ours(frontend) == each.theirs(frontend)]
        placed = [(each, at) for each in agreeing if (at := each.is_placed(frontend)) is not None]
        columns = [each for each, _ in placed if each.has_columns(frontend)]
        yield f"{frontend}: {len(agreeing)} of {len(counted)} verdicts as torch's"
        yield f"  {sum(at for _, at in placed)} of {len(placed)} failures on torch's line, {len(columns)} with a column"
    yield "ways (fx, export, compile):"
    ways = Counter(tuple(each.ours(name) for name in ("fx", "export", "compile")) for each in counted)
    for way, count in ways.most_common():
        yield f"  {count:4}  {', '.join(way)}"
    if counted:
        yield f"median of {median(each.seconds for each in counted):.1f} s for a trace and both verdicts"


if __name__ == "__main__":
    sys.exit(main())
