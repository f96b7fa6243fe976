"""Conversion of findings to problems with code, message and location."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import torch

from ....report.codes import (
    CODE_FAILS,
    GRAPH_FAILS,
    MADE_IN_FORWARD,
    OPERATION_FAILS,
    SWALLOWED,
    TYPE_TEST,
    UNREGISTERED_MODULE,
    UNREGISTERED_PARAMETER,
    severity_of,
)
from ....report.locations import Location, RelatedPlace
from ....report.problems import Problem
from ...model import module_tree
from ...model.building.construction import Constructions
from ...model.diagnosis.failures import failure_message, message_of, refusal_message, with_headline
from ...model.diagnosis.own_mistakes import is_own_mistake, layer_as_tensor
from ...model.diagnosis.returned_values import ReturnedValue, functions_of_traceback, returned_value, running_functions
from ...model.locations.code_origin import is_installed
from ..checks.base.pass_result import PassResult
from .findings import RecoveryFinding, RecoveryFindings

_LOST = "not in parameters(), not trained, not saved, not moved by .to()"


class FindingProblems:
    """Converter of the findings of one pass."""

    def __init__(
        self,
        traced: PassResult,
        made_in_forward: Constructions,
        without_frame: Callable[[BaseException], Location | None],
        is_given: bool,
    ) -> None:
        """Create the converter of one pass.

        Args:
            traced: The pass.
            made_in_forward: The modules that were constructed while the model ran.
            without_frame: Returns a location for errors whose traceback has no line of the user's code.
            is_given: Whether the constructor's arguments are the user's.
        """
        self._traced = traced
        self._made_in_forward = made_in_forward
        self._without_frame = without_frame
        self._is_given = is_given
        self._modules = dict(module_tree.named_modules(traced.root, remove_duplicate=False))

    def of(self, findings: RecoveryFindings) -> Iterator[Problem]:
        """Yield a problem for each finding.

        If a function of an installed package refuses proxies, one for each call of it.
        """
        first: dict[tuple[Location | None, str], RecoveryFinding] = {}
        for finding in findings.all:
            if self._is_refused_inside(finding):
                first.setdefault((self._traced.problem_location(finding.call_stack), finding.module_path), finding)
        for finding in findings.all:
            inside = first.get((self._traced.problem_location(finding.call_stack), finding.module_path))
            if inside is None or inside is finding or not self._is_in_package(finding):
                yield self._problem(finding)

    def _is_refused_inside(self, finding: RecoveryFinding) -> bool:
        return finding.code.startswith("FX1") and self._is_in_package(finding)

    def _is_in_package(self, finding: RecoveryFinding) -> bool:
        """Return whether an installed package does what plain proxies refuse.

        How it does so is not for the user to fix.
        """
        return finding.code.startswith(("FX1", TYPE_TEST)) and bool(self._places_in_package(finding))

    def _problem(self, finding: RecoveryFinding) -> Problem:
        code, related = finding.code, self._places_in_package(finding)
        if finding.caught:
            code = SWALLOWED
        if code == OPERATION_FAILS and self._is_own_mistake(finding):
            code = CODE_FAILS
        if finding.code == UNREGISTERED_MODULE:
            code, related = self._unregistered(finding, related)
        location = self._traced.problem_location(finding.call_stack)
        if location is None and finding.error is not None:
            location = self._without_frame(finding.error)
        returned = self._returned(finding) if code == OPERATION_FAILS else None
        message = self._message(finding)
        if returned is not None:
            message, related = with_headline(returned.headline, message), (*related, *returned.related)
        elif finding.module is not None:
            message = f"{self._plain_words(finding.module, code)}\n{message}"
        elif code == UNREGISTERED_PARAMETER:
            message = f"This uses a parameter that is not registered under the root module: {_LOST}.\n{message}"
        return Problem(code, severity_of(code), message, location, related, finding.module_path, self._traced.target)

    def _returned(self, finding: RecoveryFinding) -> ReturnedValue | None:
        """Return which function of the workspace returned what an operation cannot take; None if that is not known."""
        if finding.error is None or finding.headline:
            return None
        running = running_functions(finding.call_stack, self._modules)
        raised = functions_of_traceback(finding.error, self._traced.places)[-1:]
        if raised and running and raised[0].instruction[:2] == running[-1].instruction[:2]:
            running[-1] = replace(running[-1], variables=raised[0].variables)
        return returned_value(finding.error, running, self._traced.places)

    def _is_own_mistake(self, finding: RecoveryFinding) -> bool:
        return finding.error is not None and is_own_mistake(finding.error, self._traced.root, self._is_given)

    def _unregistered(
        self, finding: RecoveryFinding, related: tuple[RelatedPlace, ...]
    ) -> tuple[str, tuple[RelatedPlace, ...]]:
        module = finding.module
        if module is None:
            return finding.code, related
        kind = type(module).__name__
        places = self._traced.places
        during = self._made_in_forward.of(module)
        made = during or self._traced.constructions.of(module)
        if made is not None:
            place = RelatedPlace(f"this {kind} is made here", places.locate(made.code, made.offset))
            related = (place, *related)
        return (finding.code if during is None else MADE_IN_FORWARD), related

    def _plain_words(self, module: torch.nn.Module, code: str) -> str:
        """Return what it means for the model, without torch.fx, that a called module is not registered."""
        subject = f"This {type(module).__name__}"
        # A slice of a registered list of layers has no path either, but its layers have one.
        registered = {id(each) for each in module_tree.parameters(self._traced.root)}
        owned = [each for each in module_tree.parameters(module) if id(each) not in registered]
        is_trained = any(each.requires_grad for each in owned)
        if code != MADE_IN_FORWARD:
            lost = _LOST if is_trained else "it has no path"
            return f"{subject} is not registered under the root module: {lost}."
        if module in module_tree.modules(self._traced.root):
            return f"{subject} is registered while forward runs: before the first call, the model does not have it."
        return f"{subject} is made anew in each call: it has no path{' and is never trained' * is_trained}."

    def _places_in_package(self, finding: RecoveryFinding) -> tuple[RelatedPlace, ...]:
        """Return the locations inside installed packages where it occurred."""
        steps = [step.location for step in self._traced.places.steps(finding.call_stack)]
        own = [index for index, location in enumerate(steps) if not is_installed(location.file)]
        if not own:
            return ()
        return tuple(RelatedPlace(f"raised in {place.function or 'here'}", place) for place in steps[own[-1] + 1 :])

    def _message(self, finding: RecoveryFinding) -> str:
        where = f" in module {finding.module_path}" if finding.module_path else ""
        if finding.caught and finding.error is not None:
            text = f"{type(finding.error).__name__}: {message_of(finding.error)}"
            return f"torch.fx fails here{where}, the model catches that, and the graph holds what it does then. {text}"
        if finding.error is None:
            return f"torch.fx does something else here{where} than the model when it runs: {finding.remark}"
        if finding.code == OPERATION_FAILS:
            if self._is_own_mistake(finding):
                headline = layer_as_tensor(finding.error, dict(self._traced.root.named_modules()))
                return with_headline(headline, failure_message(finding.error, finding.module_path))
            message = f"{message_of(finding.error)} ({type(finding.error).__name__}{where})"
            return with_headline(finding.headline, message)
        if finding.code == GRAPH_FAILS:
            text = message_of(finding.error)
            return f"What torch.fx records here{where} fails when the graph runs, unlike the model itself: {text}"
        message = refusal_message(finding.error, where, finding.code)
        return f"{message}\n{finding.remark}" if finding.remark else message
