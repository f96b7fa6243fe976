"""Programs of a workspace that are recorded in this process."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fxlsp.recording.recording_file import RecordedInstance, read_recording
from fxlsp.recording.session import RecordingOptions, RecordingSession

_numbers = itertools.count()


@dataclass
class Recorded:
    """A recording that is under way, and the module of the workspace that it is about."""

    module: Any
    session: RecordingSession
    file: str

    def instances(self) -> dict[str, list[RecordedInstance]]:
        """Stop, and return what was recorded of each class."""
        self.session.stop()
        found: dict[str, list[RecordedInstance]] = {}
        try:
            recorded = read_recording(self.file)
        except FileNotFoundError:
            recorded = ()
        for each in recorded:
            found.setdefault(each.name, []).append(each)
        return found


Record = Callable[[str], Recorded]


def load(path: Path) -> ModuleType:
    """Import a file under a name of its own."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    """Return a function that writes a module, imports it, and records from then on."""
    started: list[Recorded] = []

    def start(text: str) -> Recorded:
        path = tmp_path / "workspace" / f"recorded_{next(_numbers)}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        file = str(tmp_path / "recording.json")
        session = RecordingSession(RecordingOptions(file, str(path.parent), "train.py"))
        session.start()
        started.append(Recorded(load(path), session, file))
        return started[-1]

    yield start
    for each in started:
        each.session.stop()
        del sys.modules[each.module.__name__]
