"""Files with one class, ``Net``, for the search to make and feed, and models as people write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from fxlsp.report.report import Report
from fxlsp.tracing.model.locations.expressions import Expressions
from fxlsp.tracing.model.locations.source_map import SourceMap
from fxlsp.tracing.model.locations.sources import Sources
from fxlsp.tracing.search.evidence import Evidence, TargetFacts
from fxlsp.tracing.search.rules import suggestions
from fxlsp.tracing.search.trials.runner import TorchCall, TrialOutcome
from fxlsp.tracing.search.trials.values import Trial

HEAD = """
import dataclasses
import enum
from typing import Literal, Optional
import torch
from torch import nn
import torch.nn.functional as F

class Base(nn.Module):
    def forward(self, x):
        return x * self.scale if hasattr(self, "scale") else x

"""
_HEAD = "import math\n\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"
_TEXTS = ("nothing_calls.txt", "in_a_hurry.txt")


@dataclass(frozen=True)
class Model:
    wrong: str
    sound: str

    @property
    def name(self) -> str:
        """That of the last class, which uses the others."""
        return self.sound.rpartition("\nclass ")[2].partition("(")[0]


def _models() -> dict[str, Model]:
    found = {}
    for name in _TEXTS:
        text = Path(__file__).with_name(name).read_text(encoding="utf-8")
        for part in text.split("\n== ")[1:]:
            title, _, body = part.partition("\n")
            found[title.partition(":")[0]] = Model(_without(body, "+"), _without(body, "-"))
    return found


def _without(body: str, mark: str) -> str:
    return _HEAD + "".join(f"{line[1:]}\n" for line in body.splitlines() if not line.startswith(mark))


MODELS = _models()
"""The models of both tables, each with its mistake and without, by title."""


def constructed(signature: str, body: str) -> str:
    """Made by a constructor with this signature and body; it takes any tensor."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return f"{HEAD}class Net(Base):\n    def __init__(self, {signature}):\n        super().__init__()\n{lines}"


def fed(signature: str, body: str) -> str:
    """Without a constructor, and with a ``forward`` with this signature and body."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return f"{HEAD}class Net(nn.Module):\n    def forward(self, {signature}):\n{lines}"


def net(arguments: str, made: str, signature: str, run: str) -> str:
    """Made and fed: the arguments and body of the constructor, then of ``forward``."""
    constructor = "".join(f"        {line}\n" for line in made.splitlines())
    forward = "".join(f"        {line}\n" for line in run.splitlines())
    return (
        f"{HEAD}class Net(nn.Module):\n    def __init__(self, {arguments}):\n        super().__init__()\n{constructor}"
        f"\n    def forward(self, {signature}):\n{forward}"
    )


def asked(worker: Any, path: str, guess: Mapping[str, str | None]) -> Report:
    """The report of a trace whose request tells what was found before."""
    number = worker.ask(f"{path}:Net", guess=guess)
    message = worker.next()
    assert (message["id"], message["type"]) == (number, "report")
    return Report.from_json(message["report"])


def suggested(trial: Trial, call: TorchCall) -> list[str]:
    """The inputs of the trials that the rules suggest where a call of torch's raised, the likeliest first."""
    found = [other for _, other in suggestions(evidence_of(trial, RuntimeError("it does not fit"), call))]
    return [other.inputs.text for other in found if other.inputs is not None]


def trials_after(trial: Trial, error: Exception, rule: str, call: TorchCall | None = None) -> list[Trial]:
    """The trials that one rule suggests after an error."""
    return [other for name, other in suggestions(evidence_of(trial, error, call)) if name == rule]


def evidence_of(trial: Trial, error: Exception, call: TorchCall | None = None) -> Evidence:
    """What a trial leaves behind that fails outside the user's code."""
    sources = Sources({})
    facts = TargetFacts(ModuleType("nets"), SourceMap(sources, Expressions(sources)))
    return Evidence(trial, TrialOutcome(error=error, failing=call), error, facts, lambda: trial)
