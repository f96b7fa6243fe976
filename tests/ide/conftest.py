"""The real worker, which traces the results of fixes."""

from __future__ import annotations

from tests.tracing.conftest import worker, write

__all__ = ["worker", "write"]
