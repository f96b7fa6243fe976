"""The fixture of the checks for mistakes of PyTorch."""

from __future__ import annotations

from tests.tracing.passes.checks.classics.conftest import mistakes

__all__ = ["mistakes"]
