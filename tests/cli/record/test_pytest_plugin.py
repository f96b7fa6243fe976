"""The plugin of pytest in the runs of people who have fxlsp installed, and mostly do not record.

pytest rewrites the assertions of every package of a distribution that has a plugin: those of fxlsp too.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[3]
PLUGIN = ["-p", "fxlsp.cli.record.pytest_plugin"]
NAMES = "sorted(name for name in sys.modules if name.partition('.')[0] == 'fxlsp')"


def run(folder: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "XDG_CACHE_HOME": str(folder / "cache"), **variables}
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def loaded(folder: Path, *options: str) -> list[str]:
    """Return the modules of fxlsp that a run of pytest with these options has loaded."""
    (folder / "test_names.py").write_text(
        f"import pathlib, sys\n\n\ndef test_names():\n    pathlib.Path('names.txt').write_text('\\n'.join({NAMES}))\n"
    )
    ran = run(folder, "-m", "pytest", "-q", *PLUGIN, *options, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert ran.returncode == 0, ran.stdout
    return (folder / "names.txt").read_text().splitlines()


def test_a_run_without_the_option_loads_the_plugin_and_nothing_else_of_fxlsp(tmp_path: Path) -> None:
    assert loaded(tmp_path) == ["fxlsp", "fxlsp.cli", "fxlsp.cli.record", "fxlsp.cli.record.pytest_plugin"]


def test_what_a_run_loads_has_no_assertion_that_pytest_could_rewrite(tmp_path: Path) -> None:
    names = loaded(tmp_path, "--fxlsp-record")
    assert "fxlsp.recording.recorder" in names
    for name in names:
        place = PROJECT.joinpath(*name.split("."))
        path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)], name


def test_a_program_that_has_imported_fxlsp_runs_pytest_without_a_warning(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text("def test_nothing():\n    pass\n")
    program = "import sys, fxlsp, pytest\nsys.exit(pytest.main(['-q', '-p', 'no:cacheprovider']))"
    ran = run(tmp_path, "-c", program)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "PytestAssertRewriteWarning" not in ran.stdout + ran.stderr
