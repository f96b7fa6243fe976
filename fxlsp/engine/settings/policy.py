"""Selection and severity of problems, by the user's settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from fxlsp.engine.settings.settings import Level, Settings
from fxlsp.report.code_records import Severity, Trait
from fxlsp.report.codes import codes_with
from fxlsp.report.problems import Problem

Profile = Literal["fx", "shapes"]

_FX_ONLY_CODES = codes_with(Trait.OF_TORCH_FX)
"""They become hints where torch.fx is not used, since the model is right."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Selection and severity of problems in one folder."""

    profile: Profile = "fx"
    reason: str = ""
    """Why this profile was chosen: the use of torch.fx that was found, or the source of the setting."""
    levels: Mapping[str, Level] = field(default_factory=dict)
    """Severity by code or beginning of codes; the longest beginning that matches counts."""

    @classmethod
    def of(cls, settings: Settings, profile: Profile, reason: str = "") -> Policy:
        """Return the policy of some settings under a profile.

        ``ignore`` has precedence over ``severities`` of the same code.
        """
        ignored: dict[str, Level] = dict.fromkeys(settings.ignore, "off")
        return cls(profile, reason, {**settings.severities, **ignored})

    def severity(self, code: str, severity: Severity) -> Severity | None:
        """Return the severity of a problem with this code; None if it is not reported.

        Args:
            severity: the default severity.
        """
        chosen = next((code[:end] for end in range(len(code), 0, -1) if code[:end] in self.levels), None)
        if chosen is not None:
            level = self.levels[chosen]
            return None if level == "off" else level
        return "hint" if self.profile == "shapes" and code in _FX_ONLY_CODES else severity

    def applied(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """Return the problems to report, each with the severity that the user chose."""
        rated = ((problem, self.severity(problem.code, problem.severity)) for problem in problems)
        return tuple(replace(problem, severity=severity) for problem, severity in rated if severity is not None)
