"""Arguments that may be left out and must not be, defaults that do not do, and models that run in eval mode alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from types import CodeType

from ..conditions import deciding_names, names_that_may_be_none
from ..evidence import Evidence, words_at
from ..priors.class_body import tree_of
from ..priors.constructor import called_module
from ..priors.inputs import further_inputs, optional_inputs
from ..priors.tables import ASKS_FOR_WEIGHTS
from ..trials.values import EVAL_MODE, INPUTS, Edit, Group, Guess, Open, Path, Text
from .registry import rule, says

_MOST_DEFAULTS = 4
"""Defaults that are changed, each by itself."""
_EMPTY = re.compile(r"\(\)|\[\]|empty|at least|out of range|not enough")
"""Words of errors about what has no elements."""
_LEFT_OUT = re.compile(r"\b(None|specif\w+|requires?d?|provided?|passed?|given|missing|have to|must)\b")
"""Words of errors about an argument that was left out."""
_OF_OTHER_BRANCH = re.compile(r"module '[\w.]+' has no attribute")
"""What no argument mends, but which is not asked for where another branch is taken."""
_NOT_THERE = (KeyError, OSError)
"""What is raised where a constructor reads what is elsewhere, as weights or settings are: by default that is no mistake
of the class's."""
_MODULE = re.compile(r"module|layer|block|net|model|conv|norm|act|encoder|decoder|sample")
"""In names of what is called with tensors."""


def _passed(evidence: Evidence) -> set[str] | None:
    """Return the constructor arguments that the trial passes; None if its call is the text of a recipe."""
    init = evidence.trial.init
    return {key for key, _ in init.items} if isinstance(init, Group) else None


def _with_other_defaults(evidence: Evidence) -> Iterator[Edit]:
    passed = _passed(evidence)
    if passed is not None:
        for name, guess in islice(evidence.facts.defaults.items(), _MOST_DEFAULTS):
            if name not in passed:
                yield {("init", name): guess}


@rule("other defaults where edges differ", "call", lambda evidence: evidence.call is not None)
def _edges_differ(evidence: Evidence) -> Iterator[Edit]:
    """Pass a padding or flag with a default, where maps that are taken together have different edges."""
    call = evidence.call
    edges = {tuple(each.shape[2:]) for each in call.taken if each.dim() >= 4} if call is not None else set()
    if call is not None and len(edges) > 1 and not call.function.startswith("conv"):
        yield from _with_other_defaults(evidence)


def _may_lack_options(evidence: Evidence) -> bool:
    """Return whether an argument of the constructor that defaults to nothing may have to be passed."""
    error, text = evidence.error, evidence.text
    if "NoneType" in text or isinstance(error, (AssertionError, UnboundLocalError)) or _EMPTY.search(text):
        return True
    return isinstance(error, ValueError) and not evidence.facts.optional.keys().isdisjoint(re.findall(r"\w+", text))


@rule("optional argument that is named", "omitted", _may_lack_options)
def _named_options(evidence: Evidence) -> Iterator[Edit]:
    """Pass an argument that defaults to nothing and that the failing line names."""
    optional = evidence.facts.optional
    yield from _options(evidence, {name: guess for name, guess in optional.items() if name in evidence.words})


@rule("optional argument", "optional", _may_lack_options)
def _any_options(evidence: Evidence) -> Iterator[Edit]:
    """Pass an argument that defaults to nothing."""
    yield from _options(evidence, evidence.facts.optional)


def _options(evidence: Evidence, optional: Mapping[str, Guess]) -> Iterator[Edit]:
    passed = _passed(evidence)
    if passed is None:
        return
    missing = [name for name in optional if name not in passed]
    if "not callable" in evidence.text:
        modules = (name for name in missing if isinstance(optional[name], Open))
        for name in sorted(modules, key=lambda name: not _MODULE.search(name)):
            yield {("init", name): Text(called_module(name))}
    words = words_at(evidence.frames[:2])
    for name in sorted(missing, key=lambda name: name not in words):
        yield {("init", name): optional[name]}


@rule("name of a default class", "omitted", says("attribute name must be string"))
def _by_name(evidence: Evidence) -> Iterator[Edit]:
    """Pass the name of the class that an argument is by default, where the failing line looks a class up by it."""
    passed = _passed(evidence)
    if passed is None:
        return
    for name, guess in evidence.facts.class_names.items():
        if name not in passed and name in evidence.words:
            yield {("init", name): guess}


@rule("optional input", "optional", lambda evidence: evidence.is_called and evidence.outcome.model is not None)
def _optional_inputs(evidence: Evidence) -> Iterator[Edit]:
    """Pass inputs that may be left out: all that the failing line names at once, then each."""
    model = evidence.outcome.model
    if model is None or not _is_about_none(evidence):
        return
    options = dict(optional_inputs(model, evidence.trial.inputs))
    named = evidence.words | set(re.findall(r"\w+", evidence.text))
    missing = [key for key in options if key.rstrip("=") in named]
    if len(missing) > 1:
        yield {("inputs", key): options[key] for key in missing}
    for key in sorted(options, key=lambda key: key not in missing):
        yield {("inputs", key): options[key]}


def _is_about_none(evidence: Evidence) -> bool:
    error, text = evidence.error, evidence.text
    if isinstance(error, UnboundLocalError) or _OF_OTHER_BRANCH.match(text) or "NoneType" in text:
        return True
    return evidence.call is None and (isinstance(error, AssertionError) or _LEFT_OUT.search(text) is not None)


@rule("eval mode", "optional", lambda evidence: evidence.is_called and not evidence.trial.eval_mode)
def _eval_mode(evidence: Evidence) -> Iterator[Edit]:
    """Run the model in eval mode, if a function that failed goes another way by ``self.training``."""
    if any(_depends_on_mode(frame.f_code) for frame, _ in evidence.frames):
        yield {EVAL_MODE: Text("True")}


@lru_cache(maxsize=128)
def _depends_on_mode(code: CodeType) -> bool:
    if "training" not in code.co_names:
        return False
    tests = (node.test for node in ast.walk(tree_of(code)) if isinstance(node, (ast.If, ast.IfExp, ast.Assert)))
    return any(isinstance(part, ast.Attribute) and part.attr == "training" for test in tests for part in ast.walk(test))


@rule("more inputs", "optional", lambda evidence: evidence.is_called)
def _further_inputs(evidence: Evidence) -> Iterator[Edit]:
    """Pass more of what ``*name`` takes."""
    if evidence.outcome.model is not None:
        yield from ({INPUTS: inputs} for inputs in further_inputs(evidence.outcome.model, evidence.trial.inputs))


@rule("no trained weights", "kind", lambda evidence: evidence.facts.weights and evidence.outcome.model is None)
def _without_weights(evidence: Evidence) -> Iterator[Edit]:
    """Pass that no trained weights are wanted, where code failed that only runs if they are."""
    passed = _passed(evidence)
    if passed is not None and any(map(ASKS_FOR_WEIGHTS.search, deciding_names(evidence.frames))):
        yield {("init", name): guess for name, guess in evidence.facts.weights.items() if name not in passed}


@rule("other branch than a look-up", "optional", lambda evidence: isinstance(evidence.error, _NOT_THERE))
def _by_another_branch(evidence: Evidence) -> Iterator[Edit]:
    """Pass what decides by its default that a constructor reads what is not there."""
    passed = _passed(evidence)
    if evidence.outcome.model is None and passed is not None:
        deciding = deciding_names(evidence.frames[:2])
        for name, guess in (*evidence.facts.defaults.items(), *evidence.facts.optional.items()):
            if name in deciding and name not in passed:
                yield {("init", name): guess}


@rule("None that has a branch", "optional")
def _none(evidence: Evidence) -> Iterator[Edit]:
    """Pass None for what the constructor asks for, where the failing line only runs if it is something."""
    passed = _passed(evidence)
    if passed is not None:
        for name in sorted(passed & names_that_may_be_none(evidence.frames[:2])):
            yield {("init", name): Text("None")}


@rule("further arguments", "optional", says(_EMPTY.pattern))
def _further_arguments(evidence: Evidence) -> Iterator[Edit]:
    """Pass something for ``*name``, where something is empty."""
    passed = _passed(evidence)
    if passed is not None and "missing" not in evidence.text:
        for key, guesses in evidence.facts.further.items():
            path: Path = ("init", key)
            yield from ({path: guess} for guess in guesses if key not in passed)
