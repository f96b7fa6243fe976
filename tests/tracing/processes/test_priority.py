"""Processor time belongs to the trace that was asked for last; front ends have what traces leave."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.worker import Worker

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a model there cannot read its own priority class")

OWN = 0 if sys.platform == "win32" else os.getpriority(os.PRIO_PROCESS, 0)
LOW = max(OWN, 10)
"""A priority that is lower from the start stays."""
MODEL = """
    import os, time
    from torch import nn

    class Net(nn.Module):
        def forward(self, x):
            while not os.path.exists({gate!r}):
                time.sleep(0.01)
            raise RuntimeError(f"priority {{os.getpriority(os.PRIO_PROCESS, 0)}}.")
"""


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    return tmp_path / "gate"


@pytest.fixture
def waiting(worker: Worker, write: Callable[..., str], gate: Path) -> int:
    """A trace that waits at the gate before it says what its priority is."""
    request = worker.ask(f"{write(MODEL.format(gate=str(gate)))}:Net", "Net()", "torch.randn(1)")
    worker.next_stage("trace")
    return request


@pytest.fixture
def fails(write: Callable[..., str], tmp_path: Path) -> str:
    """A model that says what its priority is at once."""
    return f"{write(MODEL.format(gate=str(tmp_path)), 'fails.py')}:Net"


def priority(message: object) -> int:
    found = re.search(r"priority (-?\d+)\.", str(message))
    assert found is not None, message
    return int(found[1])


def test_a_trace_leaves_its_processor_time_to_a_newer_one(worker: Worker, waiting: int, gate: Path, fails: str) -> None:
    assert priority(worker.answer(fails, "Net()", "torch.randn(1)")) == OWN
    gate.touch()
    message = worker.next()
    assert (message["id"], priority(message)) == (waiting, LOW)


def test_a_front_end_leaves_its_processor_time_to_traces_that_run(
    worker: Worker, waiting: int, gate: Path, fails: str
) -> None:
    assert priority(worker.answer(fails, "Net()", "torch.randn(1)", frontend="export")) == LOW
    gate.touch()
    message = worker.next()
    assert (message["id"], priority(message)) == (waiting, OWN)
