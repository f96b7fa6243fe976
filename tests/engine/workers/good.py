"""Fake supervisor that traces nothing, but answers as if it did.

The name of the target decides what happens to it, and the text of its file what the report contains: see ``_answer``.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from fxlsp.report.codes import severity_of
from fxlsp.report.frontends import FrontendProblem, FrontendResult, FrontendVerdict
from fxlsp.report.graph import Module, ModuleCall, Node, Verdict
from fxlsp.report.locations import Location, RelatedPlace
from fxlsp.report.problems import Problem
from fxlsp.report.recipes import Recipe
from fxlsp.report.report import Environment, Report
from fxlsp.source.text.documents import read_document
from tests.engine.workers.fake_wire import HELLO, Wire

Message = dict[str, Any]
STOPS = "It stops.\n  Hint: go on\n"
"""Words of a front end, before its own context and the address of a page."""


class Worker:
    def __init__(self) -> None:
        self.wire = Wire()
        self.texts: dict[str, str] = {}
        self.cancelled: set[int] = set()

    def serve(self) -> None:
        self.wire.send(HELLO)
        for message in self.wire.messages():
            if message["type"] == "overlay":
                self.texts[message["path"]] = message["text"]
            elif message["type"] == "cancel":
                self.cancelled.add(message["id"])
            elif message["type"] == "preload":
                sys.stderr.write(f"preloads {message['names']}\n")
            elif message["type"] == "trace":
                threading.Thread(target=self._trace, args=(message, dict(self.texts)), daemon=True).start()

    def _trace(self, message: Message, texts: dict[str, str]) -> None:
        file = message["target"].get("file", "")
        text = texts[file] if file in texts else on_disk(file)
        log({"path": file, **message})
        for stage in ("load", "trace"):
            self.wire.send({"type": "stage", "id": message["id"], "name": stage})
        if "# early" in text:
            graph = {**report(message, file, text), "problems": []}
            reads = [{"path": path, "digest": digest} for path, digest in message["overlays"].items()]
            self.wire.send({"type": "early", "id": message["id"], "report": graph, "reads": reads})
        is_slow = "# slow" in text or ("frontend" in message and "# frontend slow" in text)
        if is_slow and not self._wait_for_gate(message["id"], file):
            return
        self.wire.send({"id": message["id"], **self._answer(message, text)})

    def _wait_for_gate(self, number: int, file: str) -> bool:
        """Wait until the test opens the gate or cancels the trace."""
        gate = Path(file).with_suffix(".gate")
        while not gate.exists():
            if number in self.cancelled:
                log({"cancelled": number, "path": file})
                return False
            time.sleep(0.002)
        return True

    def _answer(self, message: Message, text: str) -> Message:
        name, file = message["target"]["name"], message["target"].get("file", "")
        imports = ["einops"] if "einops" in text else []
        reads = [{"path": path, "digest": digest} for path, digest in message["overlays"].items()]
        if other := other_file(text):
            other = os.path.join(os.path.dirname(file), other)
            reads.append({"path": other, "digest": read_document(other).digest})
        if name.startswith("Dying") or "# dies" in text:
            stack = [
                {"file": "/usr/lib/python3/site-packages/torch/nn.py", "line": 3, "function": "inner"},
                {"file": file, "line": line_of(text, "def forward"), "function": "forward"},
            ]
            return {"type": "failed", "stage": "trace", "exit": None, "signal": 11, "limit": None, "stack": stack}
        if name.startswith("Fatal"):
            sys.stderr.write("fatal: the template is broken\n")
            os._exit(3)
        if name.startswith("Killed"):
            os.kill(os.getpid(), signal.SIGKILL)
        if name.startswith("Failing") or "# fails" in text:
            failure = {"code": "FX903", "message": "no such argument", "location": None}
            return {"type": "failure", "failure": {"target": name, "failure": failure}, "reads": reads}
        if "frontend" in message:
            if "# frontend kills" in text:
                os.kill(os.getpid(), signal.SIGKILL)
            return frontend_answer(message, file, text)
        if name.startswith("Garbled"):
            return {"type": "report", "report": {"nonsense": 1}}
        complete = report(message, file, text)
        answer = {"type": "report", "report": complete, "reads": reads, "imports": imports}
        if "# early" not in text:
            return answer
        return {**answer, "report": {**complete, "nodes": [], "modules": [], "calls": []}, "follows_early": True}


def report(message: Message, file: str, text: str) -> Message:
    """Return a report with one node on the line of ``forward``.

    Its width is that of the text. It has a problem on each line with ``# problem`` or ``# problem FX101``, and calls of
    the classes named in ``# runs: A B``, or of another file in ``# runs other.py: A``; of A if it is made by the
    ``make()`` of ``# make() runs A``. With ``# guessed`` in the text its inputs are guessed, with
    ``# refused`` torch.fx refuses it.
    """
    width = re.search(r"width = (\d+)", text)
    size = re.search(r"big(\d+)", message["target"]["name"])
    output = {"shape": [int(width[1]) if width else 0], "dtype": "float32"}
    place = location(file, line_of(text, "def forward"))
    node = Node("x", "placeholder", "x", None, None, None, place, (), output, (), 0, None)
    root = ModuleCall("", "", "M", False, None, None, (), output, 0, None, 0, 1)
    ran = os.path.join(os.path.dirname(file), other) if (other := other_file(text)) else file
    init, inputs = message["recipe"]["init"] or "", message["recipe"]["inputs"]
    lines = run_lines(text, on_disk(ran) if other else text, init)
    runs = (replace(root, forward=location(ran, line)) for line in lines)
    recipe = Recipe(init, inputs or "x", "search") if "# guessed" in text else Recipe(init, inputs, "default")
    return Report(
        target=message["target"]["name"],
        environment=Environment(str(HELLO["python"]), str(HELLO["torch"])),
        recipe=recipe,
        mode="train",
        verdict=Verdict("# refused" not in text),
        complete="# refused" not in text,
        opaque=0,
        nodes=(node,) * (int(size[1]) if size else 1),
        modules=(Module("", (), "M", 0, 1, None),),
        calls=(root, *runs),
        problems=tuple(problems_of(file, text)),
        timing_ms={"total": 1.0},
    ).to_json()


def frontend_answer(message: Message, file: str, text: str) -> Message:
    """Return the verdict of a front end, whose sizes are fixed; such a request is refused for a model named Refused.

    One with FX704 is taken, with a fixed batch.

    With ``# unasked`` in the text it has none; with ``# frontend dies`` its process does, with ``# frontend hangs`` at
    the limit of time.
    """
    if "# unasked" in text:
        failure = {"code": "FX904", "message": "cannot feed it", "location": None}
        return {"type": "failure", "failure": {"target": "", "failure": failure}}
    if "# frontend dies" in text:
        return {"type": "failed", "stage": "trace", "exit": 3, "signal": None, "limit": None, "stack": []}
    if "# frontend hangs" in text:
        return {"type": "failed", "stage": "trace", "exit": None, "signal": 9, "limit": "time", "stack": []}
    is_fixed = message.get("fixed_sizes", False)
    found = list(frontend_problems(message["frontend"], file, text))
    limits = [] if is_fixed else [each for each in found if each.code == "FX704"]
    problems = tuple(limits[:1] or [each for each in found if each.code != "FX704"])
    is_refused = bool(problems and not limits) or (is_fixed and message["target"]["name"] == "Refused")
    summary = "with fixed sizes" if is_fixed else "with any batch"
    verdict: FrontendResult = "problem" if is_refused else "ok"
    answer = FrontendVerdict(message["frontend"], verdict, summary, problems, "fixed" if limits else None)
    return {"type": "frontend", "verdict": answer.to_json(), "needs_fixed_sizes": not is_fixed and not is_refused}


def frontend_problems(frontend: str, file: str, text: str) -> Iterator[FrontendProblem]:
    """Yield a problem on each line that names its code, such as ``# FX801``.

    ``# FX801 in ops.py`` is on the first line of another file, ``# FX801 nowhere`` has no place, and
    ``# FX899 of machine`` is for want of something.
    """
    family = "FX7" if frontend == "export" else "FX8"
    for number, line in enumerate(text.split("\n"), 1):
        found = re.search(rf"# ({family}\d\d)(?: in (\S+))?(?P<nowhere> nowhere)?(?P<machine> of machine)?", line)
        if found is None:
            continue
        place = location(os.path.join(os.path.dirname(file), found[2]), 1) if found[2] else location(file, number)
        link = "https://torch.example/page"
        words = STOPS.replace("stops", f"stops on line {number}") if found["nowhere"] else STOPS
        yield FrontendProblem(
            "It stops.",
            f"{words}  Developer debug context: of torch\n  See {link}",
            None if found["nowhere"] else place,
            found[1],
            link=link,
            words=words,
            is_of_machine=found["machine"] is not None,
        )


def problems_of(file: str, text: str) -> list[Problem]:
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        named = re.search(r"# problem\b(?: (FX\d+))?", line)
        if named is not None:
            code, place = named[1] or "FX401", location(file, number)
            found.append(Problem(code, severity_of(code), "it fails", place, (RelatedPlace("here", place),)))
    return found


def run_lines(text: str, defining: str, init: str) -> list[int]:
    named = re.search(r"# runs(?: .*)?: (.*)", text)
    names = named[1].split() if named else []
    names += [name for made, name in re.findall(r"# (\S+\(\)) runs (\w+)", text) if made == init]
    return [line_of(defining, "def forward", line_of(defining, f"class {name}(")) for name in names]


def other_file(text: str) -> str:
    named = re.search(r"# runs (.*): ", text)
    return named[1] if named else ""


def on_disk(file: str) -> str:
    return Path(file).read_text() if os.path.isfile(file) else ""


def line_of(text: str, words: str, start: int = 1) -> int:
    lines = text.split("\n")
    return next((number for number in range(start, len(lines) + 1) if words in lines[number - 1]), 1)


def location(file: str, line: int) -> Location:
    return Location(file, line, 5, line, 16)


def log(entry: Message) -> None:
    """Append to the log beside the model's file, which the test reads."""
    if os.path.isabs(entry["path"]) and os.path.isdir(os.path.dirname(entry["path"])):
        with open(os.path.join(os.path.dirname(entry["path"]), "log.jsonl"), "a") as file:
            file.write(json.dumps({**entry, "pid": os.getpid()}) + "\n")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        Worker().serve()
