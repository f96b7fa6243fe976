"""A check that SIGTERM ends reports what it had found."""

from __future__ import annotations

import asyncio
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from fxlsp.cli.check.termination import Termination
from tests.cli.conftest import Fxlsp, Ran

MODEL = "\n\nclass {name}(nn.Module):{comment}\n    def forward(self, x): ...\n"
FAILING = "  # fails"
in_main_thread = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals arrive in the main thread"
)


@pytest.fixture
def ended(fxlsp: Fxlsp, tmp_path: Path, fake_python: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Checks three models one after the other, and gets SIGTERM when the second trace has ended."""

    def run(*arguments: str, comment: str = "", form: str = "json") -> Ran:
        seen: list[str] = []

        def show(self: object, text: str) -> None:
            seen.append(text)
            if len(seen) == 2:
                signal.raise_signal(signal.SIGTERM)

        monkeypatch.setattr("fxlsp.cli.check.command._ProgressLine.show", show)
        names = {"First": comment, "Second": "", "Third": ""}
        text = "from torch import nn\n" + "".join(MODEL.format(name=name, comment=each) for name, each in names.items())
        (tmp_path / "model.py").write_text(text)
        return fxlsp("check", "model.py", "--jobs", "1", "--format", form, "--python", fake_python, *arguments)

    return run


@in_main_thread
def test_what_was_traced_before_is_printed_as_json(ended: Any) -> None:
    before = signal.getsignal(signal.SIGTERM)
    ran = ended()
    assert ran.code == 3
    assert ran.json["incomplete"] is True
    assert [(each["target"], each["status"]) for each in ran.json["models"]] == [
        ("model.py:First", "traced"),
        ("model.py:Second", "skipped"),
        ("model.py:Third", "skipped"),
    ]
    assert ran.json["models"][2]["reason"] == "the check was ended before it was traced"
    assert ran.err == "fxlsp: ended early, with 2 of 3 models not traced\n"
    assert signal.getsignal(signal.SIGTERM) is before


@in_main_thread
def test_problems_that_were_found_are_printed_and_decide_the_exit_code(ended: Any) -> None:
    ran = ended(comment=FAILING, form="full")
    assert ran.code == 1
    assert "model.py:First" in ran.out
    assert "Not checked:" in ran.out
    assert "model.py:Third: the check was ended before it was traced" in ran.out


@in_main_thread
@pytest.mark.parametrize("form", ["concise", "github", "gitlab", "junit", "sarif"])
def test_each_format_is_written(form: str, ended: Any) -> None:
    ran = ended(comment=FAILING, form=form)
    assert ran.code == 1
    assert ran.out.strip()
    assert ran.err.endswith("fxlsp: ended early, with 2 of 3 models not traced\n")


@in_main_thread
def test_exit_zero_holds_for_it_too(ended: Any) -> None:
    assert ended("--exit-zero").code == 0


@in_main_thread
def test_no_baseline_is_written(ended: Any, tmp_path: Path) -> None:
    ran = ended("--baseline", "known.json", "--baseline-mode", "write", comment=FAILING)
    assert ran.code == 2
    assert ran.err == "fxlsp: the check was ended early, so known.json is as it was\n"
    assert not (tmp_path / "known.json").exists()


def test_a_check_that_nothing_ends_is_complete(fxlsp: Fxlsp, tmp_path: Path, fake_python: str) -> None:
    (tmp_path / "model.py").write_text("from torch import nn\n" + MODEL.format(name="Net", comment=""))
    ran = fxlsp("check", "model.py", "--format", "json", "--python", fake_python)
    assert ran.code == 0
    assert "incomplete" not in ran.json


def test_work_that_begins_after_the_request_ends_at_once() -> None:
    async def work() -> None:
        await asyncio.Event().wait()

    async def run() -> bool:
        termination = Termination()
        termination.request()
        return await termination.run(work())

    assert not asyncio.run(run())


def test_an_error_of_the_work_is_raised() -> None:
    async def work() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(Termination().run(work()))
