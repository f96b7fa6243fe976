"""The graph of an edited model is sent before its package has imported the rest, where that takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fxlsp.wire.frames import JsonMessage
from tests.support.worker import Worker
from tests.tracing.processes.test_checkpoints import LINUX, TABLE

MODEL = """
import torch
from torch import nn
from .slow import table

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 8)

    def forward(self, x):
        return self.a(x)
"""
WAITS = "while not os.path.exists({released!r}):\n        time.sleep(0.01)\n    return [os.getpid()]"
REST = TABLE.replace("return [os.getpid()]", WAITS)
PACKAGE = "from .net import Net\nfrom .rest import table\n"
"""The names that it imports let the statements of ``rest`` run."""
pytestmark = LINUX


@pytest.fixture(scope="module")
def checkpointing_worker() -> Iterator[Worker]:
    """Not the session's worker: other tests count its processes."""
    worker = Worker()
    yield worker
    worker.close()


class Package:
    """Package that imports the model's file, then a file that ends when ``released`` exists."""

    def __init__(self, worker: Worker, write: Callable[..., str], released: Path) -> None:
        self.worker = worker
        self.released = released
        self.write = write
        write(TABLE, "pkg/slow.py")
        write(REST.format(released=str(released)), "pkg/rest.py")
        write(PACKAGE, "pkg/__init__.py")
        self.path = write(MODEL, "pkg/net.py")
        released.touch()

    def edit(self, text: str, name: str = "net") -> None:
        self.write(text, f"pkg/{name}.py")

    def ask(self, **options: Any) -> None:
        arguments = {"early": True, **options}
        recipe = () if "guess" in options else ("Net()", "torch.randn(1, 4)")
        self.worker.ask(f"{self.path}:Net", *recipe, **arguments)

    def traced(self, **options: Any) -> list[JsonMessage]:
        """Return all messages of a trace."""
        self.ask(**options)
        return self.rest_of_messages()

    def rest_of_messages(self) -> list[JsonMessage]:
        messages = [self.worker.next()]
        while messages[-1]["type"] == "early":
            messages.append(self.worker.next())
        return messages

    def is_known(self) -> bool:
        """Trace twice, after which a checkpoint is there, and the time that the rest takes is known."""
        return [self.traced()[-1]["type"] for _ in range(2)] == ["report", "report"]


@pytest.fixture
def package(checkpointing_worker: Worker, write: Callable[..., str], tmp_path: Path) -> Package:
    package = Package(checkpointing_worker, write, tmp_path / "released")
    assert package.is_known()
    return package


def shapes(message: JsonMessage) -> list[Any]:
    return [node["output"].get("shape") for node in message["report"]["nodes"]]


def complete(messages: list[JsonMessage]) -> list[Any]:
    """Return the shapes of the last graph."""
    last = messages[-1]
    return shapes(messages[-2] if last.get("follows_early") else last)


def test_the_graph_of_an_edited_model_comes_while_the_rest_of_its_package_is_imported(package: Package) -> None:
    package.edit(MODEL.replace("nn.Linear(4, 8)", "nn.Linear(4, 16)"))
    package.released.unlink()
    package.ask()
    early = package.worker.next()
    package.released.touch()
    messages = package.rest_of_messages()
    assert early["type"] == "early", early
    assert shapes(early) == [[1, 4], [1, 16], [1, 16]]
    assert early["report"]["problems"] == []
    assert complete(messages) == shapes(early)
    assert package.path in {read["path"] for read in early["reads"]}


def test_with_a_recipe_that_was_found_before_too(package: Package) -> None:
    package.released.unlink()
    package.ask(guess={"init": "Net()", "inputs": "torch.randn(3, 4)"})
    early = package.worker.next()
    package.released.touch()
    package.rest_of_messages()
    assert early["type"] == "early", early
    assert shapes(early)[-1] == [3, 8]


def test_what_is_imported_later_and_changes_the_model_decides(package: Package) -> None:
    change = "from . import net\nnet.Net.forward = lambda self, x: self.a(x).sum(1)\ntable = compute()"
    package.edit(REST.format(released=str(package.released)).replace("table = compute()", change), "rest")
    assert package.is_known()
    package.released.unlink()
    package.ask()
    early = package.worker.next()
    package.released.touch()
    assert early["type"] == "early", early
    assert shapes(early) == [[1, 4], [1, 8], [1, 8]]
    assert complete(package.rest_of_messages())[-1] == [1]


def test_a_model_that_needs_the_rest_is_traced_with_it(package: Package) -> None:
    needs = "from . import WIDTH\n        self.a = nn.Linear(4, WIDTH)"
    package.edit(MODEL.replace("self.a = nn.Linear(4, 8)", needs))
    package.edit(PACKAGE + "WIDTH = 5\n", "__init__")
    assert package.is_known()
    *early, last = package.traced()
    # The process before the import runs what the model asks for, as long as the import takes: either may be first.
    assert [shapes(graph) for graph in early] == [[[1, 4], [1, 5], [1, 5]]] * len(early)
    assert complete([*early, last]) == [[1, 4], [1, 5], [1, 5]]


def test_the_rest_counts_by_its_processor_time(package: Package) -> None:
    package.edit("import time\ntable = [time.sleep(0.5)]\n", "rest")
    assert package.is_known()
    (_, last) = package.traced(symbols=True)
    assert last["follows_early"]


def test_no_graph_comes_unless_it_is_wanted(package: Package) -> None:
    (message,) = package.traced(early=False)
    assert message["type"] == "report"


def test_a_model_that_takes_longer_than_the_rest_is_traced_after_it(package: Package) -> None:
    waits = "super().__init__()\n        while not hasattr(torch, 'is_whole'):\n            pass"
    package.edit(MODEL.replace("super().__init__()", waits))
    package.edit(TABLE.replace("table = compute()", "import torch\ntorch.is_whole = True\ntable = compute()"), "rest")
    assert package.is_known()
    *early, last = package.traced()
    assert len(early) <= 1
    assert complete([*early, last]) == [[1, 4], [1, 8], [1, 8]]
