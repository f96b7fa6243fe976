"""``fxlsp doctor`` as a user runs it, with the real tracing process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fxlsp.cli.doctor.command import DoctorReport, summary_line
from fxlsp.cli.doctor.environment import available, memory
from fxlsp.cli.doctor.finding import DoctorFinding, Mark
from fxlsp.cli.doctor.first_trace import containment
from fxlsp.cli.doctor.interpreter import probe_interpreter
from fxlsp.engine.settings.interpreters import OLDEST_PYTHON
from fxlsp.engine.settings.settings import Settings
from fxlsp.tracing.processes.start import OLDEST_PYTHON as OLDEST_OF_WORKER

NET = "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n"
STAGES = ["load", "search", "construct", "trace", "values", "checks"]


@dataclass(frozen=True)
class DoctorRun:
    """Result of one run."""

    code: int
    data: Any

    def findings(self, topic: str) -> list[dict[str, Any]]:
        return [each for each in self.data["findings"] if each["topic"] == topic]

    def mark(self, topic: str) -> str | None:
        """The worst of a topic; None if it has no finding."""
        marks = [each["mark"] for each in self.findings(topic)]
        return next((mark for mark in ("error", "warning", "ok") if mark in marks), None)

    def text(self, topic: str) -> str:
        return "\n".join(f"{each['message']} {each['advice'] or ''}" for each in self.findings(topic))

    def settings(self) -> dict[str, tuple[Any, str]]:
        return {each["key"]: (each["value"], each["origin"]) for each in self.data["settings"]}


Doctor = Callable[..., DoctorRun]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "net.py").write_text(NET)
    return folder


@pytest.fixture
def doctor(project: Path, tmp_path: Path) -> Doctor:
    """Runs the command on the project; by default under an interpreter that traces nothing, which is quick."""

    def run(*arguments: str, environment: Mapping[str, str] = {}) -> DoctorRun:  # never changed
        ran = command(project, tmp_path, *arguments, "--format", "json", environment=environment)
        assert ran.stderr == ""
        return DoctorRun(ran.returncode, json.loads(ran.stdout))

    return run


def command(
    folder: Path, cache: Path, *arguments: str, environment: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[str]:
    variables = {name: value for name, value in os.environ.items() if name != "FXLSP_TRUST"}
    variables |= {"XDG_CACHE_HOME": str(cache / "cache"), **environment}
    program = [sys.executable, "-m", "fxlsp", "doctor", *arguments]
    return subprocess.run(program, cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def no_python(tmp_path: Path) -> str:
    """A program that is no Python."""
    path = tmp_path / "no-python"
    path.write_text("#!/bin/sh\necho 'what do you want?' >&2\nexit 3\n")
    path.chmod(0o755)
    return str(path)


def environment_without_torch(folder: Path) -> str:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return str(folder / "bin" / "python")


def test_where_all_works_it_prints_everything_and_exits_with_0(doctor: Doctor) -> None:
    result = doctor("--python", sys.executable)
    assert result.code == 0
    assert result.data["works"] is True
    assert result.data["environment"]["python"] == ".".join(map(str, sys.version_info[:3]))
    topics = [
        "interpreter",
        "packages",
        "torch",
        "containment",
        "processes",
        "memory",
        "settings",
        "cache",
        "workspace",
    ]
    assert [each["topic"] for each in result.data["findings"]] == [*topics, "profile", "first trace"]
    assert result.data["environment"]["torch"] in result.text("torch")
    assert "1 model in 1 file" in result.text("workspace")
    assert "6 nodes, every shape known" in result.text("first trace")
    assert result.data["timing_ms"].keys() == {"start", "first trace", *STAGES}
    assert all(value >= 0 for value in result.data["timing_ms"].values())


def test_what_the_system_does_not_refuse_is_a_warning_on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    assert containment(("files", "calls")).mark == "ok"
    monkeypatch.setattr("sys.platform", "linux")
    finding = containment(("calls",))
    assert finding.mark == "warning"
    assert "changes of files" in finding.message
    assert "connections" not in finding.message
    monkeypatch.setattr("sys.platform", "darwin")
    finding = containment(())
    assert (finding.mark, finding.advice) == ("ok", None)
    assert "connections" in finding.message


def test_the_text_is_read_from_top_to_bottom(project: Path, tmp_path: Path) -> None:
    environment_without_torch(project / ".venv")
    ran = command(project, tmp_path)
    first, _, *lines = ran.stdout.splitlines()
    assert first.endswith(f"in {project}")
    assert lines[0].startswith("ok       interpreter  ")
    assert "virtual environment of the folder" in lines[0]
    (failing,) = [number for number, line in enumerate(lines) if line.startswith("error ")]
    assert "has no torch: install torch there" in lines[failing]
    advice = f"what to do: '{project}/.venv/bin/python' -m pip install torch"
    assert lines[failing + 1].strip().startswith(advice)
    assert lines[-1] == "Models cannot be traced here: see the lines marked 'error'."
    assert (ran.returncode, ran.stderr) == (1, "")


@pytest.mark.parametrize(
    ("marks", "line"),
    [
        (["ok"], "Models can be traced here."),
        (["ok", "warning"], "Models can be traced here, with 1 warning."),
        (["warning", "ok", "warning"], "Models can be traced here, with 2 warnings."),
        (["warning", "error"], "Models cannot be traced here: see the lines marked 'error'."),
    ],
)
def test_the_last_line_counts_the_warnings(marks: list[Mark], line: str) -> None:
    found = DoctorReport("", findings=[DoctorFinding("topic", mark, "") for mark in marks])
    assert summary_line(found) == line


def test_an_interpreter_that_does_not_exist_is_reported_and_all_else_too(doctor: Doctor, tmp_path: Path) -> None:
    result = doctor("--python", str(tmp_path / "gone"))
    assert (result.code, result.data["works"], result.mark("interpreter")) == (1, False, "error")
    assert "gone, which does not exist" in result.text("interpreter")
    assert "name the interpreter of your project" in result.text("interpreter")
    assert result.mark("torch") is result.mark("first trace") is None
    assert result.mark("settings") == result.mark("workspace") == "ok"


def test_a_program_that_is_no_python_is_reported_with_its_own_words(doctor: Doctor, no_python: str) -> None:
    result = doctor("--python", no_python)
    assert (result.code, result.mark("interpreter")) == (1, "error")
    assert "it runs no Python programs, and ended with exit code 3: what do you want?" in result.text("interpreter")


def test_a_python_that_is_too_old_is_reported(doctor: Doctor, tmp_path: Path) -> None:
    old = tmp_path / "old-python"
    said = json.dumps({"python": "3.8.18", "packages": {}, "fork": ""})
    old.write_text(f"#!/bin/sh\necho '{said}'\n")
    old.chmod(0o755)
    result = doctor("--python", str(old))
    assert (result.code, result.mark("interpreter")) == (1, "error")
    assert "Python 3.8.18, and fxlsp traces with 3.10 or later" in result.text("interpreter")
    assert OLDEST_PYTHON == OLDEST_OF_WORKER


def test_a_torch_that_is_too_old_is_reported_with_its_version(doctor: Doctor, tmp_path: Path) -> None:
    for name in ("torch", "torch-2.1.0.dist-info"):
        (tmp_path / "packages" / name).mkdir(parents=True)
    (tmp_path / "packages/torch/__init__.py").write_text('__version__ = "2.1.0"\n')
    (tmp_path / "packages/torch-2.1.0.dist-info/METADATA").write_text("Name: torch\nVersion: 2.1.0\n")
    python = environment_without_torch(tmp_path / "environment")
    result = doctor("--python", python, environment={"PYTHONPATH": str(tmp_path / "packages")})
    assert (result.code, result.mark("interpreter"), result.mark("torch")) == (1, "ok", "error")
    assert "fxlsp needs torch 2.6 or later" in result.text("torch")
    assert "has torch 2.1.0" in result.text("torch")
    assert "pip install --upgrade torch" in result.text("torch")
    assert "torch 2.1.0" in result.text("packages")


def test_each_setting_has_its_value_and_origin(doctor: Doctor, project: Path, no_python: str) -> None:
    (project / "pyproject.toml").write_text(
        '[tool.fxlsp]\nprofile = "fx"\nlimits.seconds = 5\n[tool.fxlsp.recipes]\n"net.py:Net" = "Net()"\n'
    )
    result = doctor("--python", no_python)
    settings = result.settings()
    assert {key for key, _ in Settings().values()} <= settings.keys()
    expected = {
        "python": (no_python, "command line"),
        "trusted": (False, "default; commands need no trust, an editor gives it"),
        "hints.shapes": (True, "default"),
        "profile": ("fx", "pyproject.toml:2"),
        "ignore": ([], "default"),
        "limits.seconds": (5.0, "pyproject.toml:3"),
        "limits.megabytes": (4096, "default"),
        f"recipes.{project / 'net.py'}:Net": (["Net()"], "pyproject.toml:5"),
    }
    assert {key: settings[key] for key in expected} == expected
    assert result.mark("settings") == "ok"
    assert result.text("profile").startswith("fx, as the settings say")


def test_trust_by_the_environment_is_reported_as_such(doctor: Doctor, no_python: str) -> None:
    result = doctor("--python", no_python, environment={"FXLSP_TRUST": "1"})
    assert result.settings()["trusted"] == (True, "environment: FXLSP_TRUST=1")


def test_wrong_settings_are_warnings_with_their_places(doctor: Doctor, project: Path, no_python: str) -> None:
    (project / "pyproject.toml").write_text(
        '[tool.fxlsp]\nhint = true\n[tool.fxlsp.recipes]\n"net.py:Nett" = "Net()"\n'
    )
    result = doctor("--python", no_python)
    assert [each["mark"] for each in result.findings("settings")] == ["ok", "warning", "warning"]
    assert "pyproject.toml:2:1: tool.fxlsp: there is no setting 'hint'" in result.text("settings")
    assert "pyproject.toml:4:1: tool.fxlsp.recipes: net.py defines no Nett; did you mean Net?" in result.text(
        "settings"
    )


def test_a_cache_that_cannot_be_written_to_is_a_warning(doctor: Doctor, tmp_path: Path, no_python: str) -> None:
    result = doctor("--python", no_python)
    assert result.mark("cache") == "ok"
    assert str(tmp_path / "cache" / "fxlsp") in result.text("cache")
    (tmp_path / "file").write_text("")
    result = doctor("--python", no_python, environment={"XDG_CACHE_HOME": str(tmp_path / "file")})
    assert result.mark("cache") == "warning"
    assert "cannot be written to" in result.text("cache")


def test_the_folder_may_be_named_and_a_file_means_its_folder(
    doctor: Doctor, project: Path, tmp_path: Path, no_python: str
) -> None:
    (tmp_path / "empty").mkdir()
    result = doctor(str(tmp_path / "empty"), "--python", no_python)
    assert (result.data["folder"], result.mark("workspace")) == (str(tmp_path / "empty"), "warning")
    assert doctor("net.py", "--python", no_python).data["folder"] == str(project)


def test_a_path_that_does_not_exist_is_bad_usage(project: Path, tmp_path: Path) -> None:
    ran = command(project, tmp_path, "nowhere")
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", "fxlsp: there is no nowhere\n")


def test_a_use_of_torch_fx_decides_the_profile(doctor: Doctor, project: Path, no_python: str) -> None:
    assert doctor("--python", no_python).text("profile").startswith("shapes in an editor")
    (project / "net.py").write_text("import torch.fx\n" + NET)
    assert doctor("--python", no_python).text("profile").startswith("fx, since net.py uses torch.fx")


def test_the_least_of_machine_and_container_is_what_is_free(tmp_path: Path) -> None:
    assert available(tmp_path / "proc", tmp_path / "cgroup") is None
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "meminfo").write_text("MemTotal: 9999999 kB\nMemAvailable:    4194304 kB\n")
    assert available(tmp_path / "proc", tmp_path / "cgroup") == 4096
    (tmp_path / "cgroup").mkdir()
    (tmp_path / "cgroup" / "memory.current").write_text(f"{2**30}\n")
    (tmp_path / "cgroup" / "memory.max").write_text("max\n")
    assert available(tmp_path / "proc", tmp_path / "cgroup") == 4096
    (tmp_path / "cgroup" / "memory.max").write_text(f"{2**31}\n")
    assert available(tmp_path / "proc", tmp_path / "cgroup") == 1024


def test_a_limit_beyond_the_memory_that_is_free_is_a_warning() -> None:
    finding = memory(10**9)
    assert (finding.mark, "limits.megabytes" in (finding.advice or "")) == ("warning", True)


def test_an_interpreter_says_what_is_installed_without_importing_it(tmp_path: Path) -> None:
    said = probe_interpreter(sys.executable)
    assert said.version == sys.version_info[:2]
    assert "torch" in said.packages
    assert said.fork == ""
