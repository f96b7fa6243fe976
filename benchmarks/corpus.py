"""fxlsp on many models, compared with torch itself.

Compared are verdicts, first failing lines, nodes, paths and shapes.

    python -m benchmarks.corpus FOLDER               a checkout of jansel/pytorch-jit-paritybench, or any other folder
    python -m benchmarks.corpus --torchvision --timm

What makes the comparison fair: both sides see the same files, on the CPU, in the mode in which a model is constructed,
with random generators started at 0 before each step, without weights, connections and processes, one thread, and with
the same limits of time. A package that is not installed is replaced by a stand-in that has every attribute
(``corpora/stand_ins``), and so is the helper that paritybench's files import, so that no part of that project is copied
here. The reference loads all of a file and fxlsp what the model needs; where the file cannot be loaded or the model not
be built, there is no reference, and the case does not count. The same applies to models that require an accelerator
while they are traced: fxlsp takes every device for the CPU. What is compared, and what is allowed to differ, is
documented in ``corpora/comparison.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.corpora import files, libraries, ours, summary
from benchmarks.corpora.cases import Case, chosen
from benchmarks.corpora.comparison import Compared, compare
from benchmarks.corpora.workspace import Workspace

SECONDS = 30
"""For each step of a case."""
MEGABYTES = 8192
CHUNK = 60
"""Cases that one process of the reference and one of fxlsp answer, one after the other."""


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="fxlsp-corpus-") as folder:
        workspace = Workspace(Path(folder), SECONDS)
        cases = chosen(list(_cases(options, workspace)), options.cases, options.sample)
        print(f"{len(cases)} cases", file=sys.stderr)
        compared: list[Compared] = []
        with open(options.json or os.devnull, "w", encoding="utf-8", buffering=1) as out:
            for case in _all_compared(cases, workspace, options.jobs):
                compared.append(case)
                out.write(json.dumps(asdict(case)) + "\n")
    for line in summary.lines(compared):
        print(line)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.corpus", description="fxlsp held against torch on many models.")
    parser.add_argument("folder", nargs="?", help="a folder of model files")
    parser.add_argument("--torchvision", action="store_true", help="every model of torchvision")
    parser.add_argument("--timm", action="store_true", help="the smallest model of every family of timm")
    parser.add_argument("--half", choices=["develop", "acceptance", "all"], default="develop", help="of the folder")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="every N-th case")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes of each kind at once")
    parser.add_argument("--cases", nargs="*", default=[], metavar="FILE:Name", help="these alone")
    parser.add_argument("--json", metavar="OUT", help="write a line of JSON for each case")
    return parser.parse_args()


def _cases(options: argparse.Namespace, workspace: Workspace) -> Iterator[Case]:
    if options.folder:
        # Without the files that contain no chosen case: parsing a whole corpus takes a minute.
        named = [name.partition(":")[0] if ":" in name else "" for name in options.cases]
        paths = files.model_files(options.folder, options.half)
        paths = [path for path in paths if not named or any(name in path for name in named)]
        for path in workspace.prepare(paths):
            yield from files.cases_of(path)
    if options.torchvision:
        yield from libraries.torchvision_cases()
    if options.timm:
        yield from libraries.timm_cases()


def _all_compared(cases: Sequence[Case], workspace: Workspace, jobs: int) -> Iterator[Compared]:
    done = 0
    with ThreadPoolExecutor(jobs) as threads:
        chunks = [cases[start : start + CHUNK] for start in range(0, len(cases), CHUNK)]
        for part in threads.map(lambda chunk: _compared(chunk, workspace), chunks):
            yield from part
            done += len(part)
            print(f"{done} of {len(cases)}", file=sys.stderr, flush=True)


def _compared(cases: Sequence[Case], workspace: Workspace) -> list[Compared]:
    references = _references(cases, workspace)
    answers = ours.answers(cases, workspace.environment(), str(workspace.files))
    return [compare(case.key, references.get(case.key, {}), answers[case.key]) for case in cases]


def _references(cases: Sequence[Case], workspace: Workspace) -> dict[str, dict[str, Any]]:
    requests = [
        {"cases": [case.to_json() for case in group], "seconds": SECONDS, "megabytes": MEGABYTES}
        for _, group in groupby(cases, key=lambda case: (case.file, case.module))
    ]
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks.corpora.reference"],
        input="".join(json.dumps(request) + "\n" for request in requests).encode(),
        stdout=subprocess.PIPE,
        env=workspace.environment(),
        cwd=workspace.files,
        check=True,
    )
    return {answer["key"]: answer for answer in map(json.loads, process.stdout.splitlines())}


if __name__ == "__main__":
    sys.exit(main())
