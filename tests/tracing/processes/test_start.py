"""Which interpreters trace."""

from __future__ import annotations

import re
from pathlib import Path

from fxlsp.tracing.processes.start import NEWEST_PYTHON, NEWEST_TORCH, OLDEST_PYTHON, OLDEST_TORCH, untested

PYPROJECT = (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8")


def test_the_versions_are_those_that_the_project_claims() -> None:
    (oldest, below) = re.findall(r'torch = \["torch>=([\d.]+),<([\d.]+)"\]', PYPROJECT)[0]
    assert oldest == ".".join(map(str, OLDEST_TORCH))
    assert below == f"{NEWEST_TORCH[0]}.{NEWEST_TORCH[1] + 1}"
    assert f'requires-python = ">={OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]}"' in PYPROJECT
    pythons = [int(minor) for minor in re.findall(r"Programming Language :: Python :: 3\.(\d+)", PYPROJECT)]
    assert (3, max(pythons)) == NEWEST_PYTHON


def test_tested_versions_need_no_remark() -> None:
    assert untested(OLDEST_PYTHON, "2.6.0") is None
    assert untested(NEWEST_PYTHON, "2.15.3+cpu") is None


def test_newer_versions_are_said_to_be_untested() -> None:
    assert "torch 2.16.0a0" in (untested(NEWEST_PYTHON, "2.16.0a0") or "")
    assert "Python 3.14" in (untested((3, 14), "2.15.0") or "")
