"""The registry of rules: names, order, counters, and rules that fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.search import rule_counts, rule_table
from dev.search_rules import table
from fxlsp.tracing.model.building.fake_tensors import new_fake_mode
from fxlsp.tracing.search.engine import Search
from fxlsp.tracing.search.evidence import Evidence
from fxlsp.tracing.search.rules import RULES, RuleCounts, registry, suggestions
from fxlsp.tracing.search.rules.registry import MODULES, Rule, ordered, rule
from fxlsp.tracing.search.trials.budget import Budget
from fxlsp.tracing.search.trials.runner import RunConditions, TorchCall
from fxlsp.tracing.search.trials.values import Edit, Group, Tensor, Text, Trial
from tests.tracing.search.frames import evidence_of

GIVEN = Trial(Text("Net()"), Group("inputs", (("x", Tensor((2, 32))), ("y", Tensor((2, 48))))))
MISFIT = TorchCall("linear", (torch.empty(2, 48), torch.empty(5, 7)), {})


def test_every_rule_says_in_one_line_what_it_does_and_is_tried_at_some_time() -> None:
    tried = [each for rules in ordered().values() for each in rules]
    assert sorted(each.name for each in tried) == sorted(RULES)
    assert [each.name for each in tried if not 10 < len(each.summary) < 110] == []
    assert {each.suggest.__module__.rpartition(".")[2] for each in tried} == set(MODULES)
    folder = Path(registry.__file__).parent
    assert {each.stem for each in folder.glob("*.py")} - {"__init__", "registry"} == set(MODULES)


def test_no_two_rules_have_one_name() -> None:
    name = next(iter(RULES))
    with pytest.raises(ValueError, match=name):
        rule(name, "guess")(lambda evidence: iter(()))


def test_each_suggestion_names_its_rule() -> None:
    found = list(suggestions(evidence_of(GIVEN, RuntimeError("it does not fit"), MISFIT)))
    name, trial = found[0]
    assert (name, trial.inputs and trial.inputs.text) == (
        "input that does not fit",
        "torch.randn(2, 32), torch.randn(2, 7)",
    )
    assert {name for name, _ in found} <= set(RULES)


def test_a_rule_that_raises_leaves_the_others_their_turn(monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    def broken(evidence: Evidence) -> Iterator[Edit]:
        raise KeyError("whatever the user's code raises")

    monkeypatch.setitem(ordered(), "kind", [Rule("broken", lambda _: True, "kind", broken)])
    assert list(suggestions(evidence_of(GIVEN, RuntimeError("it does not fit"), MISFIT)))
    assert "whatever the user's code raises" in capfd.readouterr().err


def test_counters_of_classes_add_up_and_rules_that_find_most_come_first() -> None:
    name, other = list(RULES)[:2]
    counts = rule_counts([{"rules": {name: [3, 1, 0], other: [1, 1, 1]}}, {"rules": {name: [2, 0, 0]}}, {}])
    assert counts == {name: RuleCounts(5, 1, 0), other: RuleCounts(1, 1, 1)}
    lines = list(rule_table(counts))
    assert lines[1].endswith(f"1  {other}")
    assert len(lines) == len(RULES) + 1


def test_the_documentation_has_a_row_for_each_rule_and_each_way_to_begin() -> None:
    lines = list(table({"one size for everything": RuleCounts(0, 2, 1)}))
    assert len(lines) == len(RULES) + 3
    assert lines[-1] == "|  | one size for everything | Begin elsewhere. | 0 | 2 | 1 |"


def test_a_result_says_which_rules_led_to_it() -> None:
    evidence = evidence_of(GIVEN, RuntimeError())
    evidence.facts.module.__dict__["Net"] = Net
    search = Search(evidence.facts.module, RunConditions(new_fake_mode(), evidence.facts.places), Budget())
    found = search.of_target(Net, "Net")
    assert found.inputs == "torch.randn(2, 32, 7, 7)"
    assert {name: each.finds for name, each in found.rules.items() if each.finds} == {"size by its number": 1}


class Net(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x @ torch.ones(7, 3)
