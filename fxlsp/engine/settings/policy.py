"""Which problems the user wants to hear of, and how severe they are to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from fxlsp.engine.settings.settings import Level, Settings
from fxlsp.report.codes import Severity
from fxlsp.report.problems import Problem

Profile = Literal["fx", "shapes"]

_FX_ONLY_CODES = ("FX1", "FX2", "FX3", "FX402")
"""Nothing is wrong with such a model unless it is traced: who does not, gets hints."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The choices of one folder."""

    profile: Profile = "fx"
    reason: str = ""
    """Why this profile: what of the workspace uses torch.fx, or who chose it."""
    levels: Mapping[str, Level] = field(default_factory=dict)
    """By code or the beginning of codes; the longest that fits counts."""

    @classmethod
    def of(cls, settings: Settings, profile: Profile, reason: str = "") -> Policy:
        """What the settings say under this profile; ``ignore`` wins over ``severities`` of the same code."""
        ignored: dict[str, Level] = dict.fromkeys(settings.ignore, "off")
        return cls(profile, reason, {**settings.severities, **ignored})

    def severity(self, code: str, severity: Severity) -> Severity | None:
        """How severe a problem is that would be ``severity`` by default; None if it is not to be told."""
        chosen = next((code[:end] for end in range(len(code), 0, -1) if code[:end] in self.levels), None)
        if chosen is not None:
            level = self.levels[chosen]
            return None if level == "off" else level
        return "hint" if self.profile == "shapes" and code.startswith(_FX_ONLY_CODES) else severity

    def applied(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """The problems that are told, as severe as the user has them."""
        rated = ((problem, self.severity(problem.code, problem.severity)) for problem in problems)
        return tuple(replace(problem, severity=severity) for problem, severity in rated if severity is not None)
