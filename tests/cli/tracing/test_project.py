"""The settings that count for a folder on the command line."""

from __future__ import annotations

from pathlib import Path

from fxlsp.cli.tracing.project import Projects


def test_the_command_line_reports_what_concerns_torch_fx_unless_configured_otherwise(tmp_path: Path) -> None:
    folder = str(tmp_path)
    assert Projects(None).at(folder).policy.profile == "fx"
    assert Projects(None, "shapes").at(folder).policy.profile == "shapes"
    (tmp_path / "pyproject.toml").write_text('[tool.fxlsp]\nprofile = "shapes"\n')
    assert Projects(None).at(folder).policy.profile == "shapes"
    assert Projects(None, "fx").at(folder).policy.profile == "fx"
