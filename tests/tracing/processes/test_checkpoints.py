"""The imports of a model's file are shared by later traces where they take long.

They are run again as soon as they would have another result.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fxlsp.report.report import Report
from fxlsp.tracing.isolation.child_processes.system import resident_megabytes
from tests.support.running import stacks_of
from tests.support.waiting import eventually
from tests.support.worker import Worker
from tests.tracing.processes.test_worker_death import descendants_of, is_running

TABLE = """
import os, time

def compute():
    end = time.process_time() + 0.25
    while time.process_time() < end:
        pass
    return [os.getpid()]

table = compute()
"""
"""Takes long to import, and contains the id of the process that imported it."""
LARGE_TABLE = TABLE.replace("[os.getpid()]", "[os.getpid(), bytearray(b'1') * (3 * 2**28)]")
"""Three quarters of a gigabyte."""
LESS_MEGABYTES = 650
"""A limit that a process with the table exceeds, and none without: torch's builds alone take 200 to 450 MiB."""
MODEL = """
import torch
from torch import nn
from slow import table

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 8)

    def forward(self, x):
        return self.a(x) * table[0]
"""
RECIPE = ("Net()", "torch.randn(1, 4)")
LINUX = pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="no process can be adopted here")
pytestmark = LINUX


@pytest.fixture(scope="module")
def checkpointing_worker() -> Iterator[Worker]:
    """Not the session's worker: other tests count its processes."""
    worker = Worker()
    yield worker
    worker.close()


class Project:
    """A model's file and what it imports, traced repeatedly."""

    def __init__(self, worker: Worker, write: Callable[..., str]) -> None:
        self.worker = worker
        self.write = write
        write(TABLE, "slow.py")
        self.path = write(MODEL)

    def trace(self, name: str = "Net", **options: Any) -> Report:
        recipe = () if "guess" in options else (f"{name}()", "torch.randn(1, 4)")
        return self.worker.report(f"{self.path}:{name}", *recipe, **options)

    def importer(self, **options: Any) -> int:
        """Return the id of the process that ran the imports that a trace uses."""
        return importer(self.trace(**options))

    def ask_hanging(self, megabytes: int) -> int:
        """Request a trace that runs until it is killed at one of its limits."""
        text = MODEL.replace("return self.a", "while True: pass\n        return self.a")
        return self.worker.ask(f"{self.path}:Net", *RECIPE, overlays={self.path: text}, megabytes=megabytes)

    def has_checkpoint(self) -> bool:
        """Return whether the next traces use the same imports."""
        return self.importer() == self.importer()


def importer(report: Report) -> int:
    inputs = next(node.inputs for node in report.nodes if node.target == "operator.mul")
    return int(inputs[1]["value"])  # type: ignore[index]


@pytest.fixture
def project(checkpointing_worker: Worker, write: Callable[..., str]) -> Project:
    return Project(checkpointing_worker, write)


def test_later_traces_use_the_imports_of_the_first(project: Project) -> None:
    first = project.importer()
    assert project.importer() == first
    project.write(MODEL.replace("nn.Linear(4, 8)", "nn.Linear(4, 16)"))
    edited = project.trace()
    assert importer(edited) == first
    assert edited.nodes[-1].output == {"shape": [1, 16], "dtype": "float32"}


def test_so_do_other_models_of_the_file_and_unsaved_texts_of_it(project: Project) -> None:
    text = MODEL + "\nclass Other(Net):\n    pass\n"
    first = project.importer(overlays={project.path: text})
    assert importer(project.trace("Other", overlays={project.path: text})) == first
    assert project.importer() == first


def test_so_do_traces_by_a_recipe_that_a_search_has_found(project: Project) -> None:
    guess = {"init": "Net()", "inputs": "torch.randn(2, 4)"}
    assert project.importer(guess=guess) == project.importer(guess=guess)


def test_each_trace_starts_from_what_was_imported(project: Project) -> None:
    project.write(
        MODEL.replace("super().__init__()", "super().__init__(); table.append(0)").replace("[0]", "[0] + len(table)")
    )
    reports = [project.trace() for _ in range(3)]
    assert len({str(report.nodes) for report in reports}) == 1


def test_files_that_are_imported_quickly_have_no_checkpoint(project: Project) -> None:
    project.write(TABLE.replace("0.25", "0.0"), "slow.py")
    assert not project.has_checkpoint()


def test_a_package_that_imports_the_models_file_itself_has_a_checkpoint(project: Project) -> None:
    project.write("from .net import Net\n", "pkg/__init__.py")
    project.write(TABLE, "pkg/slow.py")
    project.path = project.write(MODEL.replace("from slow", "from .slow"), "pkg/net.py")
    first = project.importer()
    project.write(MODEL.replace("from slow", "from .slow").replace("8", "9"), "pkg/net.py")
    edited = project.trace()
    assert importer(edited) == first
    assert edited.nodes[-1].output == {"shape": [1, 9], "dtype": "float32"}


def test_many_small_files_have_a_checkpoint_like_a_large_one(project: Project) -> None:
    body = "".join(f"def f{each}(a, b, c=({each},)):\n    return a + b\n" for each in range(80))
    for number in range(200):
        project.write(body, f"part{number}.py")
    project.write("".join(f"import part{number}\n" for number in range(200)), "parts.py")
    project.write("import os\ntable = [os.getpid()]\n", "slow.py")
    project.write(MODEL.replace("from slow", "import parts\nfrom slow"))
    assert project.has_checkpoint()


CHANGES: dict[str, Callable[[Project], Any]] = {
    "an imported file": lambda project: project.write(TABLE + "\n# edited\n", "slow.py"),
    "a data file that was read": lambda project: project.write("2", "data.txt"),
    "a data file that was not there": lambda project: project.write("2", "absent.txt"),
    "a module that was not there": lambda project: project.write("", "missing.py"),
    "a module that hides another": lambda project: project.write(TABLE, "slow/__init__.py"),
    "a folder that was listed": lambda project: project.write("", "plugins/second.txt"),
    "an import in the head": lambda project: project.write(MODEL.replace("import torch\n", "import torch, json\n", 1)),
}
READING = """
import os
from pathlib import Path
try:
    import missing
except ImportError:
    missing = None
here = Path(__file__).parent
data = (here / "data.txt").read_text()
is_there = os.path.exists(here / "absent.txt")
plugins = os.listdir(here / "plugins")
"""


@pytest.mark.parametrize("change", CHANGES)
def test_a_checkpoint_is_dropped_after_a_change_of(change: str, project: Project) -> None:
    project.write(
        READING + TABLE.replace("[os.getpid()]", "[os.getpid(), missing, data, is_there, plugins]"), "slow.py"
    )
    project.write("1", "data.txt")
    project.write("", "plugins/first.txt")
    first = project.importer()
    # Files that no import has looked at may appear and disappear.
    project.write("", "unrelated.txt")
    assert project.importer() == first
    CHANGES[change](project)
    second = project.importer()
    assert second != first
    assert project.importer() == second


def test_an_unsaved_buffer_of_an_imported_file_counts_and_one_with_the_same_text_does_not(project: Project) -> None:
    slow = str(Path(project.path).with_name("slow.py"))
    first = project.importer()
    assert project.importer(overlays={slow: Path(slow).read_text()}) == first
    edited = TABLE + "\n# edited\n"
    second = project.importer(overlays={slow: edited})
    assert second != first
    assert project.importer(overlays={slow: edited}) == second
    assert project.importer() not in (first, second)


def test_a_text_that_does_not_parse_is_reported_as_ever(project: Project) -> None:
    first = project.worker.answer(f"{project.path}:Net", *RECIPE)
    assert first["type"] == "report"
    broken = project.worker.answer(f"{project.path}:Net", *RECIPE, overlays={project.path: MODEL + "class (:\n"})
    assert broken["type"] == "failure"
    assert "invalid syntax" in str(broken["failure"])


REASONS = {
    "a statement that failed": ("def fail():\n    raise ValueError", "table = compute()\nfail = fail()"),
    "a thread": (
        "import threading",
        "table.append(threading.Thread(target=time.sleep, args=(60,), daemon=True).start())",
    ),
    "an open file": ("", "table.append(open(__file__))"),
    "a temporary file": ("import tempfile", "table.append(tempfile.mkdtemp())"),
    "more of the model's file run": ("import model", "table.append(model.extra)"),
}


@pytest.mark.parametrize("reason", REASONS)
def test_there_is_no_checkpoint_where_imports_leave(reason: str, project: Project) -> None:
    before, after = REASONS[reason]
    project.write(f"{before}\n{TABLE}\n{after}\n", "slow.py")
    project.write(
        MODEL.replace("import table", "import table, fail" if "fail" in before else "import table") + "extra = 1\n"
    )
    assert not project.has_checkpoint()


def test_a_resumed_trace_reports_what_any_other_does(
    checkpointing_worker: Worker, worker: Worker, write: Callable[..., str]
) -> None:
    """Models and random numbers made by imports, wrapped functions, modes, a package that imports the model's file."""
    write("from .net import Net\nfrom . import after\n", "pkg/__init__.py")
    write("import torch\nscale = torch.rand(3).tolist()\n", "pkg/after.py")
    write(
        TABLE.replace("[os.getpid()]", "[2]")
        + """
import random
import torch
from torch import nn

torch.set_default_dtype(torch.float64)
factor = random.random() + torch.rand(3).tolist()[0]

@torch.fx.wrap
def scaled(x):
    return x * float(x.shape[0])

class Shared(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.b = nn.Linear(width, width)

    def forward(self, x):
        return self.b(x) + 1 if self.training else self.b(x)

shared = Shared(512)
""",
        "pkg/slow.py",
    )
    text = """
    import random
    import torch
    from torch import nn
    from .slow import Shared, factor, scaled, shared, table

    drawn = random.random() + torch.rand(3).tolist()[0]

    class Net(nn.Module):
        def __init__(self, width=512):
            super().__init__()
            self.shared = shared
            self.own = Shared(512)
            self.out = nn.Linear(512, 4)

        def forward(self, x):
            from .after import scale
            x = scaled(self.own(self.shared(x))) * factor * table[0] + drawn + scale[0]
            if x.sum() > 0:
                x = x + 1
            return self.out(x + random.random())
    """
    edited = text.replace("nn.Linear(512, 4)", "nn.Linear(512, 5)")
    path = write(text, "pkg/net.py")
    target, recipe = f"{path}:Net", ("Net()", "torch.randn(2, 512)")
    checkpointing_worker.report(target, *recipe)
    write(edited, "pkg/net.py")
    resumed, anew = checkpointing_worker.answer(target, *recipe), worker.answer(target, *recipe)
    loads = []
    for message in (resumed, anew):
        message.pop("id")
        loads.append(message["report"].pop("timing_ms")["load"])
    assert loads[0] < loads[1] / 2
    assert resumed == anew


def test_edits_that_a_search_makes_arguments_for_are_reported_alike(project: Project, worker: Worker) -> None:
    text = MODEL.replace("def __init__(self)", "def __init__(self, width)").replace("8", "width")
    project.write(text)
    target = f"{project.path}:Net"
    held = [project.worker.report(target) for _ in range(2)][1]
    anew = worker.report(target)
    places = {node.name: node.output for node in anew.nodes}
    assert {node.name: node.output for node in held.nodes} == places
    assert held.recipe == anew.recipe


@pytest.mark.parametrize(
    ("statement", "seconds", "expected"),
    [
        ("while True: pass", 5.0, {"limit": "time", "stage": "trace"}),
        ("ctypes.string_at(0)", 30.0, {"signal": signal.SIGSEGV, "stage": "trace"}),
        ("os._exit(3)", 30.0, {"exit": 3, "stage": "trace"}),
    ],
)
def test_a_death_of_a_resumed_trace_is_reported_with_its_line_and_the_next_one_succeeds(
    statement: str, seconds: float, expected: dict[str, Any], project: Project
) -> None:
    head = MODEL.replace("import torch\n", "import torch\nimport ctypes, os\n", 1)
    project.write(head)
    first = project.importer()
    dying = head.replace("return self", f"{statement}\n        return self")
    project.write(dying)
    message = project.worker.answer(f"{project.path}:Net", *RECIPE, seconds=seconds)
    assert message["type"] == "failed"
    assert {name: message[name] for name in expected} == expected
    line = next(entry["line"] for entry in message["stack"] if entry["file"] == project.path)
    assert dying.splitlines()[line - 1].strip() == statement
    project.write(head)
    assert project.importer() == first


def test_a_checkpoint_whose_workers_fail_is_closed_without_effect(project: Project) -> None:
    """The user's code exits in each forked process."""
    hook = (
        "table.append(os.register_at_fork(after_in_child=lambda: os.getpid() == table[0] or table[1] or os._exit(9)))"
    )
    project.write(f"{TABLE.replace('[os.getpid()]', '[os.getpid(), 0]')}\n{hook}\n", "slow.py")
    assert not project.has_checkpoint()


def test_a_resumed_trace_that_is_cancelled_reports_nothing_more(project: Project) -> None:
    head = MODEL.replace("import torch\n", "import torch\nimport time\n", 1)
    project.write(head)
    first = project.importer()
    project.write(head.replace("return self", "time.sleep(60)\n        return self"))
    cancelled = project.worker.ask(f"{project.path}:Net", *RECIPE)
    project.worker.next_stage("trace")
    project.worker.send({"type": "cancel", "id": cancelled})
    project.write(head)
    assert project.importer() == first


def test_a_trace_that_is_cancelled_before_it_begins_leaves_the_checkpoint(project: Project) -> None:
    first = project.importer()
    for _ in range(3):
        cancelled = project.worker.ask(f"{project.path}:Net", *RECIPE)
        project.worker.send({"type": "cancel", "id": cancelled})
    assert project.importer() == first


def test_a_resumed_trace_may_write_to_its_temporary_folder_alone(project: Project) -> None:
    head = MODEL.replace("import torch\n", "import torch\nimport os, tempfile\n", 1)
    project.write(head)
    first = project.importer()
    project.write(head.replace("return self", "open(tempfile.mkstemp()[1], 'w').write('x')\n        return self"))
    assert project.importer() == first
    project.write(head.replace("return self", "open(__file__ + '.written', 'w')\n        return self"))
    error = project.trace().verdict.error
    assert error is not None
    assert error.type == "RefusedError"
    project.write(head.replace("return self", "os.mknod(__file__ + '.written')\n        return self"))
    error = project.trace().verdict.error
    assert error is not None
    assert error.type == "PermissionError"


def test_a_checkpoint_over_the_memory_limit_is_closed(project: Project) -> None:
    project.write(LARGE_TABLE, "slow.py")
    first = project.importer()
    eventually(lambda: large_processes_of(project.worker), "there is no checkpoint with the table")
    request = project.ask_hanging(megabytes=LESS_MEGABYTES)
    message = project.worker.next()
    assert (message["id"], message["type"], message["limit"]) == (request, "failed", "memory")
    eventually(lambda: not large_processes_of(project.worker), lambda: stacks_of(project.worker.process.pid))
    assert project.importer() != first


def test_so_is_one_that_comes_from_a_trace_over_it(project: Project) -> None:
    # Closes the checkpoints of other tests.
    project.worker.send({"type": "preload", "names": ["json"]})
    eventually(lambda: not checkpoints_of(project.worker))
    project.write(LARGE_TABLE, "slow.py")
    request = project.ask_hanging(megabytes=LESS_MEGABYTES)
    project.worker.next_stage("load")
    # The supervisor must not check its memory before it has a checkpoint.
    os.kill(project.worker.process.pid, signal.SIGSTOP)
    try:
        eventually(lambda: bool(checkpoints_of(project.worker)))
    finally:
        os.kill(project.worker.process.pid, signal.SIGCONT)
    message = project.worker.next()
    assert (message["id"], message["type"], message["limit"]) == (request, "failed", "memory")
    eventually(lambda: not checkpoints_of(project.worker))


def test_few_files_have_a_checkpoint_at_once(checkpointing_worker: Worker, write: Callable[..., str]) -> None:
    projects = [
        Project(checkpointing_worker, lambda text, name="model.py", n=n: write(text, f"{n}/{name}")) for n in range(3)
    ]
    first, second, third = (each.importer() for each in projects)
    assert [each.importer() for each in projects[1:]] == [second, third]
    assert projects[0].importer() != first


def test_the_checkpoint_of_an_open_file_outlives_those_of_closed_ones(
    checkpointing_worker: Worker, write: Callable[..., str]
) -> None:
    edited, *others = (
        Project(checkpointing_worker, lambda text, name="model.py", n=n: write(text, f"{n}/{name}")) for n in range(4)
    )
    texts = {edited.path: MODEL}
    first = edited.importer(overlays=texts)
    for other in others:
        other.importer()
    assert edited.importer(overlays=texts) == first


def test_packages_that_are_imported_ahead_close_checkpoints_without_them(project: Project) -> None:
    first = project.importer()
    project.worker.send({"type": "preload", "names": ["imaplib"]})
    assert project.importer() != first


@pytest.mark.parametrize("ends", ["closed", "killed"])
def test_no_process_is_left_when_the_supervisor_ends(ends: str, write: Callable[..., str]) -> None:
    worker = Worker()
    project = Project(worker, write)
    assert project.has_checkpoint()
    project.write(MODEL.replace("return self", "while True: pass\n        return self"))
    worker.ask(f"{project.path}:Net", *RECIPE, seconds=600)
    worker.next_stage("trace")
    # While it forks another process it has more descriptors than those by which it is known.
    eventually(lambda: checkpoints_of(worker))
    processes = descendants_of(worker.process.pid)
    if ends == "killed":
        worker.process.kill()
    worker.close()
    eventually(lambda: not any(is_running(pid) for pid in processes))


def large_processes_of(worker: Worker) -> list[int]:
    """Return the supervisor's descendants that have the large table in memory."""
    return [pid for pid in descendants_of(worker.process.pid) if resident_megabytes(pid) > LESS_MEGABYTES]


def checkpoints_of(worker: Worker) -> list[int]:
    """Return those of the supervisor's children that are connected with it by a socket only."""
    return [pid for pid in descendants_of(worker.process.pid) if _connections(pid) == {"socket"}]


def _connections(pid: int) -> set[str]:
    """Return the kinds of a process's connections; none if it is about to end."""
    kinds = set()
    # The files of a process that is ending are readable by root only.
    with suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                kinds.add(os.readlink(descriptor).partition(":")[0])
    return kinds & {"socket", "pipe"}


def test_where_workers_are_spawned_there_is_no_checkpoint(spawning_worker: Worker, write: Callable[..., str]) -> None:
    assert not Project(spawning_worker, write).has_checkpoint()


def test_a_spawned_worker_reports_what_a_resumed_one_does(
    project: Project, spawning_worker: Worker, write: Callable[..., str]
) -> None:
    started = Project(spawning_worker, write)
    write(TABLE.replace("os.getpid()", "2"), "slow.py")
    project.trace()
    assert replace(project.trace(), timing_ms={}) == replace(started.trace(), timing_ms={})
