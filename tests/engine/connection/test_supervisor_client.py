"""The client of a supervisor, with fake supervisors that work or fail."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from fxlsp.engine.connection.preloader import Preloader
from fxlsp.engine.connection.restart_limit import RestartLimit
from fxlsp.engine.connection.supervisor_client import StartError, SupervisorClient, SupervisorState
from fxlsp.report.codes import DIED, NO_INTERPRETER
from fxlsp.wire.frames import text_digest
from fxlsp.wire.messages import Limits, TraceRequest, TraceTarget
from tests.support.waiting import eventually_async

from ..conftest import worker

MODEL = "class Net:\n    def forward(self, x):\n        return x  # width = 4\n"
Make = Callable[..., SupervisorClient]


@pytest_asyncio.fixture
async def make() -> AsyncIterator[Make]:
    """Return a function that creates clients, which are closed when the test ends."""
    made: list[SupervisorClient] = []

    def supervisor(name: str = "good", python: str = sys.executable, **options: Any) -> SupervisorClient:
        made.append(SupervisorClient(python, bootstrap=worker(name), **options))
        return made[-1]

    yield supervisor
    for each in made:
        await each.close()


def request(folder: Path, name: str = "Net", text: str = MODEL, **fields: Any) -> TraceRequest:
    file = str(folder / "model.py")
    return TraceRequest(TraceTarget(name, file), texts={file: text}, roots=(str(folder),), **fields)


def logged(folder: Path) -> list[dict[str, Any]]:
    path = folder / "log.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def test_a_trace_gives_the_report_of_the_text_in_the_editor(make: Make, tmp_path: Path) -> None:
    stages: list[str] = []
    outcome = await make().trace(request(tmp_path), stages.append)
    assert outcome.report is not None
    assert outcome.report.nodes[0].output == {"shape": [4], "dtype": "float32"}
    assert outcome.reads == {str(tmp_path / "model.py"): text_digest(MODEL)}
    assert (outcome.failure, outcome.died, stages) == (None, False, ["load", "trace"])


async def test_the_process_starts_with_the_first_request_and_is_used_again(make: Make, tmp_path: Path) -> None:
    states: list[SupervisorState] = []
    supervisor: SupervisorClient = make(on_change=lambda: states.append(supervisor.state))
    assert supervisor.state is SupervisorState.IDLE
    await asyncio.gather(*(supervisor.trace(request(tmp_path)) for _ in range(3)))
    assert states == [SupervisorState.STARTING, SupervisorState.READY]
    assert len({entry["pid"] for entry in logged(tmp_path)}) == 1
    assert supervisor.environment is not None
    assert supervisor.environment.torch == "2.99.0"


async def test_a_large_report_arrives_whole(make: Make, tmp_path: Path) -> None:
    outcome = await make().trace(request(tmp_path, "big20000"))
    assert outcome.report is not None
    assert len(outcome.report.nodes) == 20000


async def test_a_process_that_has_hung_up_is_ended_without_complaints(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This finalizer hides an error, which is reported where the collector reaches the lost connection first.
    monkeypatch.delattr(asyncio.StreamReaderProtocol, "__del__")
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    outcome = await make("hangs_up").trace(request(tmp_path))
    assert outcome.failure is not None
    await asyncio.sleep(0)  # what wakes a task holds the error until its next step
    gc.collect()
    assert complaints == []


async def test_cancelling_the_task_cancels_the_trace(make: Make, tmp_path: Path) -> None:
    supervisor = make()
    task = asyncio.create_task(supervisor.trace(request(tmp_path, text="# slow")))
    await eventually_async(lambda: logged(tmp_path))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually_async(lambda: any("cancelled" in entry for entry in logged(tmp_path)))
    assert (await supervisor.trace(request(tmp_path))).report is not None


@pytest.mark.parametrize(("name", "summary"), [("Net", "with any batch"), ("Refused", "with fixed sizes")])
async def test_a_verdict_that_needs_another_export_is_the_first_one_only_if_that_succeeds(
    name: str, summary: str, make: Make, tmp_path: Path
) -> None:
    outcome = await make().trace(request(tmp_path, name, frontend="export"))
    assert outcome.frontend is not None
    assert outcome.frontend.summary == summary
    assert [entry.get("fixed_sizes", False) for entry in logged(tmp_path)] == [False, True]


async def test_a_model_that_cannot_be_built_is_a_failure_and_no_death(make: Make, tmp_path: Path) -> None:
    outcome = await make().trace(request(tmp_path, "Failing"))
    assert outcome.failure is not None
    assert (outcome.failure.message, outcome.died) == ("no such argument", False)


async def test_a_crash_is_a_failure_on_the_line_of_the_workspace_that_was_running(make: Make, tmp_path: Path) -> None:
    outcome = await make().trace(request(tmp_path, "DyingNet"))
    assert outcome.died
    assert outcome.failure is not None
    assert outcome.failure.code == DIED
    words = "Tracing DyingNet ended in a segmentation fault (SIGSEGV) (stopped in forward, while tracing)"
    assert outcome.failure.message == words
    place = outcome.failure.location
    assert place is not None
    assert (place.file, place.line, place.column, place.end_column) == (str(tmp_path / "model.py"), 2, 5, 26)


async def test_an_answer_that_makes_no_sense_is_a_failure(make: Make, tmp_path: Path) -> None:
    outcome = await make().trace(request(tmp_path, "Garbled"))
    assert outcome.failure is not None
    assert "cannot read" in outcome.failure.message


async def test_when_the_supervisor_dies_its_traces_say_so_and_the_next_one_starts_another(
    make: Make, tmp_path: Path
) -> None:
    supervisor = make()
    outcome = await supervisor.trace(request(tmp_path, "Fatal"))
    assert outcome.died
    assert outcome.failure is not None
    assert "exit code 3" in outcome.failure.message
    assert "fatal: the template is broken" in outcome.failure.message
    assert (await supervisor.trace(request(tmp_path))).report is not None
    assert len({entry["pid"] for entry in logged(tmp_path)}) == 2


async def test_a_trace_whose_supervisor_is_killed_from_outside_is_traced_by_the_next_one(
    make: Make, tmp_path: Path
) -> None:
    supervisor = make()
    tracing = asyncio.create_task(supervisor.trace(request(tmp_path, text=f"{MODEL}# slow\n")))
    await eventually_async(lambda: bool(logged(tmp_path)))
    os.kill(logged(tmp_path)[0]["pid"], signal.SIGKILL)
    await eventually_async(lambda: len(logged(tmp_path)) == 2)
    (tmp_path / "model.gate").touch()
    assert (await tracing).report is not None


async def test_a_trace_that_kills_its_supervisor_twice_fails(make: Make, tmp_path: Path) -> None:
    outcome = await make().trace(request(tmp_path, "Killed"))
    assert outcome.failure is not None
    assert "SIGKILL" in outcome.failure.message
    assert len({entry["pid"] for entry in logged(tmp_path)}) == 2


async def test_a_supervisor_that_is_killed_while_it_starts_is_started_again(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FXLSP_TEST_STARTS", str(tmp_path / "starts"))
    assert (await make("dies_once").trace(request(tmp_path))).report is not None


async def test_a_killed_supervisor_is_noticed_while_idle(make: Make, tmp_path: Path) -> None:
    supervisor = make()
    await supervisor.trace(request(tmp_path))
    os.kill(logged(tmp_path)[0]["pid"], signal.SIGKILL)
    await eventually_async(lambda: supervisor.state is SupervisorState.IDLE)
    assert (await supervisor.trace(request(tmp_path))).report is not None


async def test_a_trace_right_after_a_death_leaves_the_new_process_in_use(make: Make, tmp_path: Path) -> None:
    supervisor = make()
    await supervisor.trace(request(tmp_path, "Fatal"))
    await supervisor.trace(request(tmp_path))
    assert supervisor.state is SupervisorState.READY
    await supervisor.trace(request(tmp_path))
    assert len({entry["pid"] for entry in logged(tmp_path)}) == 2


async def test_after_five_deaths_it_gives_up_and_says_so_until_restarted_by_hand(make: Make, tmp_path: Path) -> None:
    now = [0.0]
    supervisor = make(limit=RestartLimit(lambda: now[0]))
    while supervisor.state is not SupervisorState.GAVE_UP and len(logged(tmp_path)) < 6:
        outcome = await supervisor.trace(request(tmp_path, "Fatal"))
        await eventually_async(lambda: supervisor.state is not SupervisorState.READY)
        now[0] += 20.0
    assert len(logged(tmp_path)) == 5
    assert outcome.failure is not None
    assert outcome.failure.code == NO_INTERPRETER
    assert "died five times in three minutes" in outcome.failure.message
    await supervisor.restart()
    assert (await supervisor.trace(request(tmp_path))).report is not None


async def test_packages_that_a_model_imports_are_preloaded_once_nobody_waits(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "fxlsp.worker")
    supervisor = make()
    outcome = await supervisor.trace(request(tmp_path, text="import einops"))
    assert outcome.imports == ("einops",)
    await eventually_async(lambda: "preloads ['einops']" in caplog.text)
    await supervisor.trace(request(tmp_path, text="import einops"))
    await supervisor.close()
    assert caplog.text.count("preloads") == 1


async def test_packages_are_preloaded_before_a_fourth_trace_in_a_row_imports_them(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "fxlsp.worker")
    supervisor = make()
    for _ in range(4):
        await supervisor.trace(request(tmp_path, text="import einops"))
    await eventually_async(lambda: "preloads ['einops']" in caplog.text)


EINOPS = "import einops\n" + MODEL


def installed(folder: Path) -> Path:
    """Write the package ``einops`` where packages are installed; return its folder."""
    package = folder / "site-packages" / "einops"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "model.py").write_text(EINOPS)
    return package


async def test_a_process_that_imported_a_package_does_not_trace_an_edited_file_of_it(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "fxlsp.worker")
    package, supervisor = installed(tmp_path), make()
    await supervisor.trace(request(package, text=EINOPS))
    await eventually_async(lambda: "preloads ['einops']" in caplog.text)
    await supervisor.trace(request(package, text=EINOPS))
    outcome = await supervisor.trace(request(package, text=EINOPS.replace("width = 4", "width = 5")))
    assert outcome.report is not None
    await supervisor.trace(request(package, text=EINOPS.replace("width = 4", "width = 6")))
    first, second, third, fourth = (entry["pid"] for entry in logged(package))
    assert first == second != third == fourth
    assert caplog.text.count("preloads") == 1


async def test_a_file_written_after_its_package_was_imported_is_traced_by_another_process(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "fxlsp.worker")
    package, supervisor = installed(tmp_path), make()
    await supervisor.trace(request(package, text=EINOPS))
    await eventually_async(lambda: "preloads ['einops']" in caplog.text)
    edited = EINOPS.replace("width = 4", "width = 5")
    (package / "model.py").write_text(edited)
    later = time.time() + 10
    os.utime(package / "model.py", (later, later))
    await supervisor.trace(request(package, text=edited))
    assert len({entry["pid"] for entry in logged(package)}) == 2


async def test_the_package_of_an_edited_file_is_not_imported_ahead(make: Make, tmp_path: Path) -> None:
    package, names = installed(tmp_path), list[tuple[str, ...]]()
    preloader = Preloader(names.append)
    edited = {str(package / "model.py"): EINOPS + "# edited"}
    preloader.trace_starts({})
    for _ in range(3):
        preloader.trace_ended(["einops.layers", "numpy"], idle=False)
    preloader.trace_starts(edited)
    assert names == [("numpy",)]
    preloader.trace_ended(["einops", "yaml"], idle=True)
    await eventually_async(lambda: len(names) == 2)
    assert names[1] == ("yaml",)
    assert not preloader.is_outdated_for(edited)


async def test_a_trace_that_the_change_of_process_interrupts_is_executed_by_the_new_one(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "fxlsp.worker")
    package, supervisor = installed(tmp_path), make()
    await supervisor.trace(request(package, text=EINOPS))
    await eventually_async(lambda: "preloads ['einops']" in caplog.text)
    running = asyncio.create_task(supervisor.trace(request(tmp_path, text=f"{MODEL}# slow\n")))
    await eventually_async(lambda: logged(tmp_path))
    await supervisor.trace(request(package, text=EINOPS.replace("width = 4", "width = 5")))
    (tmp_path / "model.gate").touch()
    assert (await running).report is not None


async def test_an_idle_supervisor_leaves_and_comes_back(make: Make, tmp_path: Path) -> None:
    supervisor = make(idle_seconds=0.05)
    await supervisor.trace(request(tmp_path))
    await eventually_async(lambda: supervisor.state is SupervisorState.IDLE)
    assert (await supervisor.trace(request(tmp_path))).report is not None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("crashes", ["ended with exit code 7", "Python 3.10 or later", "RuntimeError: libtorch is broken"]),
        ("refuses", ["python3.12 has no torch"]),
        ("old", ["version 1 of its protocol", "version 0"]),
        ("hangs", ["did not finish importing torch within 3 s", "still importing torch"]),
        ("missing", ["ended with exit code 2"]),
    ],
)
async def test_a_worker_that_does_not_start_is_one_clear_failure(
    make: Make, tmp_path: Path, name: str, words: list[str]
) -> None:
    supervisor = make(name, handshake_seconds=3.0 if name == "hangs" else 60.0)
    outcome = await supervisor.trace(request(tmp_path))
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.died) == (NO_INTERPRETER, False)
    assert outcome.failure.target == f"{tmp_path}/model.py:Net"
    for part in words:
        assert part in outcome.failure.message
    assert supervisor.state is SupervisorState.FAILED
    with pytest.raises(StartError):
        await supervisor.start()


@pytest.mark.parametrize("python", ["/no/such/python", "/etc/hostname"])
async def test_what_is_not_a_program_is_one_clear_failure(make: Make, tmp_path: Path, python: str) -> None:
    outcome = await make(python=python).trace(request(tmp_path))
    assert outcome.failure is not None
    assert outcome.failure.message.startswith(f"The interpreter {python} cannot be run: ")


async def test_a_start_that_fails_again_and_again_is_not_repeated_for_each_request(make: Make, tmp_path: Path) -> None:
    supervisor = make("crashes")
    outcomes = [await supervisor.trace(request(tmp_path)) for _ in range(50)]
    assert all(outcome.failure is not None for outcome in outcomes)
    assert supervisor.state is SupervisorState.FAILED


async def test_requests_that_wait_for_a_start_that_takes_too_long_do_not_wait_for_another(
    make: Make, tmp_path: Path
) -> None:
    states: list[SupervisorState] = []
    supervisor: SupervisorClient = make(
        "hangs",
        handshake_seconds=0.5,
        limit=RestartLimit(lambda: 0.0),
        on_change=lambda: states.append(supervisor.state),
    )
    outcomes = await asyncio.gather(*(supervisor.trace(request(tmp_path)) for _ in range(3)))
    outcomes.append(await supervisor.trace(request(tmp_path)))
    assert all(outcome.failure is not None for outcome in outcomes)
    assert states == [SupervisorState.STARTING, SupervisorState.FAILED]


async def test_a_flood_of_output_neither_blocks_a_trace_nor_fills_the_log(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "fxlsp.worker")
    outcome = await make("floods").trace(request(tmp_path))
    assert outcome.report is not None
    assert len(caplog.records) <= 500
    assert all(len(record.getMessage()) <= 500 for record in caplog.records)


async def test_a_stream_that_is_not_the_wire_ends_the_process(make: Make, tmp_path: Path) -> None:
    outcome = await make("babbles").trace(request(tmp_path))
    assert outcome.died
    assert outcome.failure is not None
    assert "ended while it traced Net" in outcome.failure.message


async def test_a_supervisor_that_does_not_answer_at_the_limit_is_ended(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fxlsp.engine.connection.connection._GRACE_SECONDS", 0.1)
    outcome = await make("deaf").trace(request(tmp_path, limits=Limits(seconds=0.1)))
    assert outcome.died


async def test_closing_ends_traces_under_way(make: Make, tmp_path: Path) -> None:
    supervisor = make()
    task = asyncio.create_task(supervisor.trace(request(tmp_path, text="# slow")))
    await eventually_async(lambda: logged(tmp_path))
    await supervisor.close()
    assert (await task).died
    assert (await supervisor.trace(request(tmp_path))).failure is not None


async def test_closing_during_the_start_ends_the_start(make: Make, tmp_path: Path) -> None:
    supervisor = make("hangs")
    task = asyncio.create_task(supervisor.trace(request(tmp_path)))
    await eventually_async(lambda: supervisor.state is SupervisorState.STARTING)
    await supervisor.close()
    outcome = await task
    assert outcome.failure is not None
    assert outcome.failure.code == NO_INTERPRETER
