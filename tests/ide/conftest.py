"""The real worker, to trace what fixes leave."""

from __future__ import annotations

from tests.worker.conftest import worker, write

__all__ = ["worker", "write"]
