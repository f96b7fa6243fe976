"""What a failed trial left behind, collected once, for the rules to read."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import FrameType, ModuleType, TracebackType
from typing import Any

import torch

from ..model.diagnosis.failures import text_of
from ..model.locations.code_origin import is_installed
from ..model.locations.source_map import SourceMap
from .priors.constructor import NamePriors
from .trials.duck import DuckUse
from .trials.runner import TorchCall, TrialOutcome
from .trials.values import Guess, Path, Trial, input_tensors

Line = tuple[FrameType, int]
"""A frame, and the line at which it was."""
Failed = tuple[Trial, TrialOutcome]
"""A trial, and how it failed."""
_MOST_CAUSES = 3
_NUMBERS = re.compile(r"\d+")
_UNPACKED = re.compile(r"values to unpack \(expected (at least )?(\d+)")


@dataclass
class TargetFacts:
    """What is known of a target before anything runs."""

    module: ModuleType
    places: SourceMap
    names: NamePriors = field(default_factory=NamePriors)
    optional: Mapping[str, Guess] = field(default_factory=dict)
    """Arguments that default to nothing, and what they may be."""
    further: Mapping[str, Sequence[Guess]] = field(default_factory=dict)
    """What may be passed for ``*name``."""
    defaults: Mapping[str, Guess] = field(default_factory=dict)
    """Other values of flags and paddings."""
    class_names: Mapping[str, Guess] = field(default_factory=dict)
    """Arguments that default to a class, with its name."""
    weights: Mapping[str, Guess] = field(default_factory=dict)
    """Arguments that ask for trained weights by default, with values that do not."""


@dataclass(frozen=True)
class Evidence:
    """A failed trial: its error, where that was raised, and what the values were used as."""

    trial: Trial
    """With every part that duck values handed out."""
    outcome: TrialOutcome
    error: BaseException
    facts: TargetFacts
    settle: Callable[[], Trial]
    """Returns the trial with what its duck values were used as."""

    @cached_property
    def text(self) -> str:
        """The error's message."""
        return text_of(self.error)

    @cached_property
    def texts(self) -> list[str]:
        """The messages of the error and of those that it was raised for, which often say more."""
        return [text_of(each) for each in _with_causes(self.error)]

    @cached_property
    def frames(self) -> list[Line]:
        """Frames of the user's code with their lines, innermost first."""
        return own_frames(self.error.__traceback__, self.facts.places)

    @cached_property
    def frame(self) -> FrameType | None:
        """The innermost frame of the user's code."""
        return self.frames[0][0] if self.frames else None

    @cached_property
    def line(self) -> str:
        """The user's line that failed."""
        return "".join(failing_text(*each) for each in self.frames[:1])

    @cached_property
    def words(self) -> set[str]:
        """The names on that line."""
        return words_at(self.frames[:1])

    @property
    def call(self) -> TorchCall | None:
        """The call of torch's that raised, if the model has inputs and one did."""
        return None if self.trial.inputs is None else self.outcome.failing

    @property
    def uses(self) -> Mapping[Path, DuckUse]:
        """What the values were used as of which nothing was known."""
        return self.outcome.uses

    @property
    def is_called(self) -> bool:
        """Whether the model was constructed, so that its call failed."""
        return self.trial.inputs is not None


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if current is not None:
            yield current
            current = current.__cause__ or current.__context__


def unpacked_names(text: str, *, starred: bool = False) -> int | None:
    """Return the number of names into which too many or few values were unpacked.

    None if the message is of another error.

    Args:
        text: the message of an error.
        starred: whether names beside a starred one count, which takes any number of further values.
    """
    match = _UNPACKED.search(text)
    return None if match is None or (match[1] and not starred) else int(match[2])


def words_at(frames: Sequence[Line]) -> set[str]:
    """Return the names on the failing lines."""
    return set(re.findall(r"[A-Za-z_]\w*", " ".join(failing_text(frame, line) for frame, line in frames)))


def own_frames(traceback: TracebackType | None, places: SourceMap) -> list[Line]:
    """Return frames of the user's code with their lines, innermost first."""
    found = []
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if places.is_shown(file) and not is_installed(file):
            found.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    return found[::-1]


def further(furthest: Failed | None, failed: Failed, places: SourceMap) -> Failed:
    """Return which of two failed trials came further.

    With inputs of other ranks a layer makes more calls or fewer, so where these differ the lines count too.
    """
    if furthest is None or failed[1].progress <= furthest[1].progress:
        return furthest or failed
    ranks = [[len(tensor.shape) for _, tensor in input_tensors(trial)] for trial, _ in (furthest, failed)]
    is_behind = ranks[0] != ranks[1] and _is_raised_before(failed[1].error, furthest[1].error, places)
    return furthest if is_behind else failed


def _is_raised_before(error: BaseException | None, other: BaseException | None, places: SourceMap) -> bool:
    """Return whether an error was raised at an earlier line of a function of the user's that both were raised in.

    That is the innermost one up to which both runs went through the same calls.
    """
    if error is None or other is None:
        return False
    frames = (own_frames(each.__traceback__, places)[::-1] for each in (error, other))
    for (frame, line), (beside, other_line) in zip(*frames, strict=False):
        if frame.f_code is not beside.f_code or line != other_line:
            return frame.f_code is beside.f_code and line < other_line
    return False


def place_and_text(error: BaseException | None, places: SourceMap) -> tuple[int, str]:
    """Return at which line of the user's code ``error`` was raised, and its text but for numbers."""
    if error is None:
        return 0, ""
    frames = own_frames(error.__traceback__, places)
    return frames[0][1] if frames else 0, _NUMBERS.sub("#", text_of(error))


def failing_text(frame: FrameType, line: int) -> str:
    """Return the line that failed; of a ``raise`` the condition above it too."""
    lines = [linecache.getline(frame.f_code.co_filename, number) for number in range(max(1, line - 3), line + 1)]
    return "".join(lines) if "raise" in lines[-1] else lines[-1]


def held_values(frame: FrameType) -> list[Any]:
    """Return the values of a frame's local variables, and of attributes of its ``self``."""
    values = list(frame.f_locals.values())
    owner = frame.f_locals.get("self")
    return values + (list(vars(owner).values()) if isinstance(owner, torch.nn.Module) else [])
