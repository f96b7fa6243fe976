"""The real worker, which traces the results of fixes."""

from __future__ import annotations

from tests.tracing.conftest import forking_workers, worker, write

__all__ = ["forking_workers", "worker", "write"]
