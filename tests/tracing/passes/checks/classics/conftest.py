"""Models with a mistake of PyTorch, whose text says where it is."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fxlsp.report.problems import Failure, Problem
from fxlsp.report.report import Report
from tests.support.marked import PREAMBLE, span_of, unmarked

Mistakes = Callable[..., list[Problem]]


@pytest.fixture
def mistakes(worker: Any, write: Callable[..., str]) -> Mistakes:
    """Traces a marked model; its problems of FX6xx have the code, and are at the marks and nowhere else."""

    def mistakes(
        text: str,
        code: str | None = None,
        inputs: str | None = "torch.ones(2, 4)",
        init: str | None = "Net()",
        target: str = "Net",
    ) -> list[Problem]:
        marked = unmarked(PREAMBLE + textwrap.dedent(text))
        answer = worker.answer(f"{write(marked.text)}:{target}", init, inputs)
        assert code or answer["type"] == "report", answer
        found = [problem for problem in _problems(answer) if problem.code.startswith("FX6")]
        assert {problem.code for problem in found} == ({code} if code else set()), found
        # There is no model without its base, and none that holds itself.
        assert {problem.severity for problem in found} <= {"error" if code in ("FX605", "FX611") else "warning"}
        found.sort(key=span_of)
        if sys.version_info >= (3, 11):
            assert [span_of(problem) for problem in found] == marked.spans
        else:
            assert [span_of(problem)[0] for problem in found] == [span[0] for span in marked.spans]
        return found

    return mistakes


def _problems(answer: Any) -> list[Problem]:
    if answer["type"] == "report":
        return list(Report.from_json(answer["report"]).problems)
    failure = Failure.from_json(answer["failure"])
    return [Problem(failure.code, failure.severity, failure.message, failure.location, failure.related)]


@pytest.fixture
def published() -> Callable[..., str]:
    """Returns the text of a model of torchvision with some parts replaced, as a file of the user's own."""

    def published(name: str, *replaced: tuple[str, str]) -> str:
        spec = importlib.util.find_spec("torchvision.models")
        if spec is None or spec.origin is None:
            pytest.skip("torchvision is not installed")
        text = (Path(spec.origin).parent / f"{name}.py").read_text(encoding="utf-8")
        text = text.replace("from ..", "from torchvision.").replace("from ._", "from torchvision.models._")
        for old, new in replaced:
            assert old in text, old
            text = text.replace(old, new, 1)
        return text

    return published
