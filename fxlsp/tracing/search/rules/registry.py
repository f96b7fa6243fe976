"""The rules of the search: what each is called, when it applies, in which order their edits are tried."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from ..evidence import Evidence
from ..trials.values import Edit, Trial, edited

Suggest = Callable[[Evidence], Iterator[Edit]]
When = Callable[[Evidence], object]
Stage = Literal["kind", "call", "omitted", "message", "optional", "guess"]
STAGES: tuple[Stage, ...] = get_args(Stage)
"""In the order in which their edits are tried: what kind of thing a value is, the call of torch's that raised,
arguments that were left out and are named, the message, what else may be passed, and whatever else a value may be."""
MODULES = (
    "argument_types",
    "argument_values",
    "sequences",
    "predicates",
    "lookups",
    "recurrent",
    "omitted",
    "module_results",
    "ranks_dtypes",
    "rank_messages",
    "sizes",
    "size_messages",
    "measured",
)
"""Modules with rules, in the order in which those of one stage are tried. The package imports them."""
ReadMatch = Callable[[Evidence, "re.Match[str]"], Iterator[Edit]]


@dataclass(frozen=True)
class Rule:
    """A reading of the evidence that a failed trial left, which suggests edits of it."""

    name: str
    when: When
    """Whether it applies: truth alone counts."""
    stage: Stage
    suggest: Suggest

    @property
    def summary(self) -> str:
        """What it does, in one line."""
        return (self.suggest.__doc__ or "").partition("\n")[0]


@dataclass
class RuleCounts:
    """How often a rule did what, in one search or many."""

    calls: int = 0
    """Failed trials for which it suggested something."""
    further: int = 0
    """Trials that it led to and that ran further than the one before."""
    finds: int = 0
    """Trials that ran to the end, and that it had a part in."""

    def add(self, other: RuleCounts) -> None:
        """Add the counts of another search."""
        self.calls += other.calls
        self.further += other.further
        self.finds += other.finds


RULES: dict[str, Rule] = {}
"""By name, in no order."""


def rule(name: str, stage: Stage, when: When = lambda _: True) -> Callable[[Suggest], Suggest]:
    """Register a rule, which suggests edits by the evidence for which ``when`` is true."""

    def registered(suggest: Suggest) -> Suggest:
        if name in RULES:
            raise ValueError(f"two rules are called {name}")
        RULES[name] = Rule(name, when, stage, suggest)
        return suggest

    return registered


def message_rule(name: str, *patterns: str) -> Callable[[ReadMatch], ReadMatch]:
    """Register a rule that reads the message of a failed call, by patterns.

    The wording of Python and torch is no contract. What is not recognised costs tries, not truth.
    """
    compiled = [re.compile(pattern, re.DOTALL) for pattern in patterns]

    def registered(read: ReadMatch) -> ReadMatch:
        def suggest(evidence: Evidence) -> Iterator[Edit]:
            for text in evidence.texts:
                for match in filter(None, (pattern.search(text) for pattern in compiled)):
                    yield from read(evidence, match)

        suggest.__doc__, suggest.__module__ = read.__doc__, read.__module__
        rule(name, "message", lambda evidence: evidence.is_called)(suggest)
        return read

    return registered


def says(pattern: str) -> When:
    """Return a condition: the error's message has this in it."""
    compiled = re.compile(pattern)
    return lambda evidence: compiled.search(evidence.text)


@cache
def ordered() -> dict[Stage, list[Rule]]:
    """Return the rules by stage, in the order of their modules, and in these."""
    rules = sorted(RULES.values(), key=lambda each: MODULES.index(each.suggest.__module__.rpartition(".")[2]))
    return {stage: [each for each in rules if each.stage == stage] for stage in STAGES}


def suggestions(evidence: Evidence) -> Iterator[tuple[str, Trial]]:
    """Yield the trials that the rules suggest, each with the name of its rule, the likeliest first."""
    for stage, rules in ordered().items():
        found: Iterator[tuple[str, Edit]] = (item for each in rules for item in _edits(each, evidence))
        if stage == "message":
            # What the failing line names is more likely to be what is wrong.
            found = iter(sorted(found, key=lambda item: not _inputs(item[1]) & evidence.words))
        for name, edit in found:
            yield name, edited(evidence.trial, edit)


def _edits(each: Rule, evidence: Evidence) -> Iterator[tuple[str, Edit]]:
    try:
        if each.when(evidence):
            for edit in each.suggest(evidence):
                yield each.name, edit
    except Exception:
        # Values of the user's code that a rule looks at may raise whatever they are asked. Why goes to the log.
        traceback.print_exc()


def _inputs(edit: Edit) -> set[str]:
    """Return the names of the inputs that an edit changes."""
    return {path[1].rstrip("=") for path in edit if path[0] == "inputs" and len(path) > 1}
