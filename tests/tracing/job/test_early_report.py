"""A complete graph is sent before the recovering pass has ended, and a recipe found before needs no search."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fxlsp.report.report import Report
from tests.support.worker import Worker

HEAD = "import os\nimport time\nimport torch\nfrom torch import nn\n\n"
WAITS_BESIDE = (
    HEAD
    + """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 8)

    def forward(self, x):
        if not isinstance(x, torch.fx.Proxy):
            while not os.path.exists({released!r}):
                time.sleep(0.01)
        return self.fc(x)
"""
)
AT_ONCE = WAITS_BESIDE.format(released=os.devnull)
COUNTED = (
    HEAD
    + """class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        torch.made = getattr(torch, "made", 0) + 1
        self.fc = nn.Linear(width, 8)

    def forward(self, x):
        return torch.cat([self.fc(x)] * torch.made)
"""
)
GUESS = {"init": "Net(4)", "inputs": "torch.randn(2, 4)"}


def answers(worker: Worker, path: str, *recipe: str, **options: Any) -> list[dict[str, Any]]:
    """Return all messages about a trace whose graph is requested early."""
    worker.ask(f"{path}:Net", *recipe, early=True, **options)
    messages = [worker.next()]
    while messages[-1]["type"] == "early":
        messages.append(worker.next())
    return messages


def test_the_graph_precedes_a_recovering_pass_that_takes_long(
    any_worker: Worker, write: Callable[..., str], tmp_path: Path
) -> None:
    released = tmp_path / "released"
    path = write(WAITS_BESIDE.format(released=str(released)))
    any_worker.ask(f"{path}:Net", "Net()", "torch.randn(2, 4)", early=True)
    early = any_worker.next()
    released.touch()
    # Without a graph before it the report is the last message.
    assert early["type"] == "early", early
    last = any_worker.next()
    assert early["id"] == last["id"]
    assert [node["name"] for node in early["report"]["nodes"]] == ["x", "fc", "output"]
    assert early["report"]["nodes"][1]["output"]["shape"] == [2, 8]
    assert early["report"]["problems"] == []
    assert [read["path"] for read in early["reads"]] == [path]
    assert last["follows_early"]
    assert last["report"]["nodes"] == last["report"]["modules"] == last["report"]["calls"] == []


def test_only_a_complete_graph_is_sent_early(any_worker: Worker, write: Callable[..., str]) -> None:
    refused = AT_ONCE.replace("return self.fc(x)", "return self.fc(x) if x.sum() > 0 else x")
    (last,) = answers(any_worker, write(refused), "Net()", "torch.randn(2, 4)")
    assert not last.get("follows_early")
    assert last["report"]["nodes"]
    failing = AT_ONCE.replace("self.fc(x)", "self.fc(x) + torch.ones(3, 3)")
    (last,) = answers(any_worker, write(failing), "Net()", "torch.randn(2, 4)")
    assert [problem["code"] for problem in last["report"]["problems"]] == ["FX401"]


def test_nothing_is_sent_early_unless_it_is_requested(any_worker: Worker, write: Callable[..., str]) -> None:
    message = any_worker.answer(f"{write(AT_ONCE)}:Net", "Net()", "torch.randn(2, 4)")
    assert message["type"] == "report"
    assert message["report"]["nodes"]


def test_a_recipe_that_was_found_before_is_used_without_another_run_of_the_model(
    any_worker: Worker, write: Callable[..., str]
) -> None:
    report = any_worker.report(f"{write(COUNTED)}:Net", guess=GUESS)
    assert (report.recipe.source, report.recipe.init, report.recipe.inputs) == ("search", *GUESS.values())
    (joined,) = (node for node in report.nodes if node.name == "cat")
    assert (joined.output or {})["shape"] == [2, 8]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self, width)", "self, width, heads)"),
        ("def forward(self, x):", "def forward(self, x):\n        assert x.dim() == 3"),
        ("def forward(self, x):", "def forward(self, x, y):\n        x = x + y"),
    ],
    ids=["arguments", "a rank", "inputs"],
)
def test_a_recipe_that_does_not_run_any_more_leads_to_what_a_search_without_it_finds(
    old: str, new: str, any_worker: Worker, write: Callable[..., str]
) -> None:
    path = write(COUNTED.replace("torch.made)", "1)").replace(old, new))
    guessed, fresh = any_worker.report(f"{path}:Net", guess=GUESS), any_worker.report(f"{path}:Net")
    assert codes(guessed) == codes(fresh)
    assert guessed.verdict.traceable == fresh.verdict.traceable
    assert len(guessed.nodes) == len(fresh.nodes)


def test_the_report_after_a_refused_guess_has_its_own_graph(any_worker: Worker, write: Callable[..., str]) -> None:
    text = COUNTED.replace("torch.made)", "1)").replace(
        "return torch", "x = x.view(-1, 4, 1, 2).flatten(1)\n        return torch"
    )
    messages = answers(any_worker, write(text.replace("nn.Linear(width, 8)", "nn.Linear(8, 8)")), guess=GUESS)
    last = messages[-1]
    graph = messages[-2]["report"] if last.get("follows_early") else last["report"]
    report = Report.from_json({**last["report"], **{name: graph[name] for name in ("nodes", "modules", "calls")}})
    assert report.nodes
    assert not [problem for problem in report.problems if problem.code.startswith("FX4")]


def codes(report: Report) -> list[tuple[str, str]]:
    return [(problem.code, problem.severity) for problem in report.problems]
