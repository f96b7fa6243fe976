"""How many models of unprepared repositories ``fxlsp check`` traces or covers.

    python -m benchmarks.coverage REPO ... [--python PATH] [--checks FOLDER]

Each repository is checked as its user would check it: in its folder, by ``fxlsp check``, without configuration. Printed
are every class with a ``forward``, the totals, and how often each reason for a class without a trace occurs. Time is
wall time; memory is the most that all processes of the check had at once, pages that they share counted once (Linux
only).

``shapes`` counts the classes that are mapped whole on inputs, ``strict`` is their share of all classes. A class for
which a package is missing does not count in the other share: a user of the repository has installed it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.repositories import summary
from benchmarks.repositories.checked import Checked, Model
from benchmarks.repositories.memory import PeakMemory


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    checked = []
    with open(options.json or os.devnull, "w", encoding="utf-8", buffering=1) as out:
        for repository in options.repositories:
            checked.append(_check(Path(repository), options))
            out.write(json.dumps(checked[-1].to_json()) + "\n")
            if not options.totals:
                sys.stdout.writelines(f"{line}\n" for line in summary.model_lines(checked[-1]))
    sys.stdout.writelines(f"{line}\n" for line in summary.totals(checked))
    return 0 if all(each.failure is None for each in checked) else 2


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.coverage", description="fxlsp check on whole repositories.")
    parser.add_argument("repositories", nargs="+", metavar="REPO", help="folders, each checked on its own")
    parser.add_argument("--python", metavar="PATH", default=sys.executable, help="interpreter with their packages")
    parser.add_argument("--jobs", metavar="N", type=int, help="traces at once (default: cores less one)")
    parser.add_argument("--totals", action="store_true", help="no line for each class")
    parser.add_argument("--json", metavar="OUT", help="write a line of JSON for each repository")
    parser.add_argument("--checks", metavar="FOLDER", help="keep there what fxlsp check answered, a file a repository")
    return parser.parse_args(arguments)


def _check(repository: Path, options: argparse.Namespace) -> Checked:
    jobs = [] if options.jobs is None else ["--jobs", str(options.jobs)]
    command = [sys.executable, "-m", "fxlsp", "check", ".", "--format", "json", "--python", options.python, *jobs]
    # fxlsp of this checkout, wherever the repository is; the tracing process does not see the variable.
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    began = time.monotonic()
    with subprocess.Popen(command, cwd=repository, env=environment, stdout=subprocess.PIPE) as process:
        with PeakMemory(process.pid) as memory:
            output, _ = process.communicate()
        seconds = time.monotonic() - began
    if options.checks is not None:
        (Path(options.checks) / f"{repository.resolve().name}.json").write_bytes(output)
    answer: dict[str, Any] = json.loads(output) if output else {"message": f"exit status {process.returncode}"}
    failure = None if "models" in answer else str(answer["message"])
    models = [Model.from_json(model, str(repository)) for model in answer.get("models", ())]
    return Checked(repository.resolve().name, tuple(models), failure, seconds, memory.megabytes)


if __name__ == "__main__":
    sys.exit(main())
