"""Plugin of pytest: ``--fxlsp-record`` records how the tests make and call the modules of the project."""

from __future__ import annotations

from typing import Any


def pytest_addoption(parser: Any) -> None:
    """Add the option; ``parser`` is pytest's."""
    group = parser.getgroup("fxlsp")
    group.addoption(
        "--fxlsp-record",
        action="store_true",
        default=False,
        help="record how the tests make and call the models of the project, for fxlsp",
    )


def pytest_configure(config: Any) -> None:
    """Start the recorder before any test file is imported; ``config`` is pytest's."""
    if config.getoption("--fxlsp-record"):
        # A run of tests without the option imports nothing of the recorder.
        from fxlsp.cli.record.in_process import record_process

        record_process(source="pytest")


def pytest_unconfigure(config: Any) -> None:
    """Save what was recorded."""
    if config.getoption("--fxlsp-record"):
        from fxlsp.cli.record.in_process import stop_recording

        stop_recording()
