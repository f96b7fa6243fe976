"""fxlsp's answers, by ``fxlsp trace --batch``."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.corpora.cases import Case

Json = dict[str, Any]


def answers(cases: Sequence[Case], environment: Mapping[str, str], folder: str) -> dict[str, Json | None]:
    """Return the report or failure of each case, by its key.

    None where fxlsp ended without one.
    """
    found: dict[str, Json | None] = {}
    waiting = list(cases)
    while waiting:
        lines = _batch(waiting, environment, folder)
        for case, line in zip(waiting, lines, strict=False):
            found[case.key] = line
        if len(lines) < len(waiting):
            # It ended at this one, which is reported as a crash of fxlsp; the others are requested again.
            found[waiting[len(lines)].key] = None
        waiting = waiting[len(lines) + 1 :]
    return found


def _batch(cases: Sequence[Case], environment: Mapping[str, str], folder: str) -> list[Json]:
    """Return the answers of one process."""
    requests = [{"target": case.target, "init": case.init, "inputs": case.inputs} for case in cases]
    command = [sys.executable, "-m", "fxlsp", "trace", "--batch", "--python", sys.executable]
    process = subprocess.run(
        command,
        input="".join(json.dumps(_without_none(request)) + "\n" for request in requests).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(environment),
        cwd=folder,
        check=False,
    )
    return [json.loads(line) for line in process.stdout.splitlines(keepends=True) if line.endswith(b"\n")]


def _without_none(request: Json) -> Json:
    return {key: value for key, value in request.items() if value is not None}
