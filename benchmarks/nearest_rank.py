"""The 95th percentile that the benchmarks hold against their targets."""

from __future__ import annotations

from collections.abc import Sequence


def percentile_95(values: Sequence[float]) -> float:
    """The smallest of the values that at least 95 % of them do not exceed: one that was measured, of however few."""
    ordered = sorted(values)
    return ordered[max(0, -(-95 * len(ordered) // 100) - 1)]
