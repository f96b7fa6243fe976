"""The tests that a change can reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from dev.environment import PROJECT
from dev.ready import reached_tests


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "fxlsp/engine/running/plan.py": "",
        "fxlsp/engine/running/jobs.py": "from fxlsp.engine.running.plan import plan",
        "fxlsp/tracing/a/b.py": "from ..c import d",
        "fxlsp/tracing/c/d.py": "",
        "tests/engine/running/test_plan.py": "",
        "tests/server/test_far.py": "import tests.support.helper",
        "tests/support/helper.py": "from fxlsp.engine.running import jobs",
        "tests/tracing/test_whole.py": "",
        "tests/tracing/a/test_b.py": "",
        "tests/editors/test_editor.py": "from fxlsp.engine.running import plan",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_the_mirroring_folder_comes_before_what_imports_a_changed_file(project: Path) -> None:
    found = reached_tests(["fxlsp/engine/running/plan.py"], project)
    assert found == ["tests/engine/running/test_plan.py", "tests/server/test_far.py"]


def test_a_folder_without_a_mirror_is_tested_by_the_nearest_one_above(project: Path) -> None:
    assert reached_tests(["fxlsp/tracing/c/d.py"], project) == ["tests/tracing/test_whole.py"]


def test_a_changed_test_is_run_and_a_file_that_is_gone_reaches_nothing(project: Path) -> None:
    assert reached_tests(["tests/tracing/a/test_b.py", "fxlsp/gone.py", "README.md"], project) == [
        "tests/tracing/a/test_b.py"
    ]


def test_of_this_repository_a_change_of_the_wire_reaches_every_layer() -> None:
    reached = {Path(path).parts[1] for path in reached_tests(["fxlsp/wire/messages.py"], PROJECT)}
    assert {"wire", "engine", "tracing", "server", "cli"} <= reached
