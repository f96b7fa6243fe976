"""Stacks that a dying process writes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from fxlsp.tracing.isolation.child_processes.crash_dump import dump_all_threads, has_all_threads, parse_stack


@pytest.mark.parametrize("threads", [0, 3])
def test_stacks_of_all_threads_are_whole_once_the_main_one_is_there(threads: int, tmp_path: Path) -> None:
    ends = threading.Event()
    others = [threading.Thread(target=ends.wait) for _ in range(threads)]
    for each in others:
        each.start()
    path = tmp_path / "stack"
    try:
        with path.open("wb") as file:
            dump_all_threads(file.fileno())
    finally:
        ends.set()
        for each in others:
            each.join()
    dumped = path.read_bytes()
    assert has_all_threads(dumped)
    assert not any(has_all_threads(dumped[:length]) for length in range(len(dumped)))
    assert parse_stack(dumped.decode())[0].function == "dump_all_threads"
