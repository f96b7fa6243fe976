"""Answers of front ends in the session: which of them apply to the present text of a model, and are to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from fxlsp.engine.running.plan import is_being_edited
from fxlsp.engine.state.session import Session
from fxlsp.engine.state.snapshot import FrontendAnswer, ModelKey, ModelState, Status
from fxlsp.report.frontends import FrontendVerdict, OtherFrontend
from fxlsp.report.report import Report

NAMES: tuple[OtherFrontend, ...] = get_args(OtherFrontend)
"""Front ends beside torch.fx, in the order in which they are asked and shown."""


@dataclass(frozen=True, slots=True)
class Question:
    """Front end to ask about a model."""

    key: ModelKey
    name: OtherFrontend


class Answers:
    """Answers of front ends about the models of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._models = session.models

    def show(self) -> None:
        """Show, of each model, the answers that apply now."""
        for key in self._models.answers:
            if key in self._models.states:
                self._models.show_answers(key, self._applying(key))

    def find(self, question: Question) -> FrontendAnswer | None:
        """Return the answer on the present text, by the recipe of the report, under the same versions."""
        answer, state = self._models.answers.get(question.key, {}).get(question.name), self.state(question.key)
        if answer is None or state.report is None or state.failure is not None:
            return None
        is_same_run = (answer.recipe, answer.environment) == (state.report.recipe, state.report.environment)
        return answer if is_same_run and self.is_present(answer.texts) else None

    def record(
        self,
        question: Question,
        verdict: FrontendVerdict,
        texts: Mapping[str, str],
        run: Report | FrontendAnswer,
        *,
        is_requested: bool,
    ) -> None:
        """Record a verdict on texts, given by their digests; ``run`` has the recipe and the versions."""
        answer = FrontendAnswer(verdict, texts, run.recipe, run.environment, is_requested)
        self._models.set_answer(question.key, question.name, answer)

    def state(self, key: ModelKey) -> ModelState:
        """Return the state of a model, also of one that is gone."""
        return self._models.states.get(key) or ModelState(key)

    def is_present(self, texts: Mapping[str, str]) -> bool:
        """Return whether these are the texts of the documents, and the user is not about to change them."""
        return self._session.holds(texts) and not is_being_edited(self._session, texts)

    def is_ready(self, key: ModelKey) -> bool:
        """Return whether a model can be asked about: it has a report on its present text, and is trusted."""
        state = self._models.states.get(key)
        is_fresh = state is not None and state.status is Status.FRESH and state.failure is None
        return is_fresh and self._models.states[key].report is not None and self._session.is_trusted(key.file)

    def named_by_settings(self, key: ModelKey) -> tuple[OtherFrontend, ...]:
        """Return the front ends that the settings name for a model of an open file."""
        is_open = key.file in self._session.documents and not self._session.is_excluded(key.file)
        return self._session.folder_of(key.file).settings.frontends if is_open else ()

    def key_of(self, path: str, name: str) -> ModelKey | None:
        """Return the model that a command is about: the one whose report the lens shows, or that covers it."""
        states = [state for key, state in self._models.states.items() if (key.file, key.name) == (path, name)]
        states.sort(key=lambda state: (state.report is None, state.covered_by is None))
        return None if not states else states[0].covered_by or states[0].key

    def _applying(self, key: ModelKey) -> tuple[FrontendAnswer, ...]:
        named = self.named_by_settings(key)
        found = ((name, self.find(Question(key, name))) for name in NAMES)
        return tuple(each for name, each in found if each is not None and (each.is_requested or name in named))
