"""A version that the machine's pip does not have is left out; an installation that fails otherwise is a failure."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from dev import environment, matrix
from dev.environment import NOT_TO_BE_HAD, is_to_be_had

PAIR = matrix.Pair("3.10", "torch==2.6.*")


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pip look at no registry and at no file of this machine."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """Return a folder with an empty package, ``fxlsp-sample`` 2.0."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    with zipfile.ZipFile(folder / "fxlsp_sample-2.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(
            "fxlsp_sample-2.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: fxlsp-sample\nVersion: 2.0\n"
        )
        wheel.writestr(
            "fxlsp_sample-2.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr("fxlsp_sample-2.0.dist-info/RECORD", "")
    return folder


@pytest.mark.usefixtures("offline")
def test_a_release_that_pip_does_not_find_is_not_to_be_had() -> None:
    assert not is_to_be_had(Path(sys.executable), ["fxlsp-no-such-package==2.*"])


@pytest.mark.usefixtures("offline")
def test_nor_is_one_that_a_constraint_of_the_machine_excludes(
    tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    assert is_to_be_had(Path(sys.executable), ["fxlsp-sample==2.*"])

    (tmp_path / "constraints.txt").write_text("fxlsp-sample<2\n", encoding="utf-8")
    monkeypatch.setenv("PIP_CONSTRAINT", str(tmp_path / "constraints.txt"))
    assert not is_to_be_had(Path(sys.executable), ["fxlsp-sample==2.*"])


@pytest.mark.usefixtures("offline")
def test_an_installation_without_such_a_release_says_so_by_its_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["dev.environment", str(tmp_path / "venv"), "fxlsp-no-such-package==2.*"])

    assert environment.main() == NOT_TO_BE_HAD


@pytest.mark.usefixtures("offline")
def test_one_that_fails_for_another_reason_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The project's own requirements cannot be had offline; no version was asked for besides.
    monkeypatch.setattr(sys, "argv", ["dev.environment", str(tmp_path / "venv")])

    assert environment.main() == 1


@pytest.mark.parametrize(("status", "result"), [(0, "ready"), (NOT_TO_BE_HAD, matrix.LEFT_OUT), (1, matrix.FAILED)])
def test_only_what_is_not_to_be_had_is_left_out(status: int, result: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "interpreter", lambda pair: sys.executable)
    monkeypatch.setattr(matrix, "install", lambda pair, base: status)

    assert matrix.result_of(PAIR, only_install=True) == result


def test_a_python_that_the_machine_lacks_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "interpreter", lambda pair: None)

    assert matrix.result_of(PAIR, only_install=False) == matrix.LEFT_OUT
