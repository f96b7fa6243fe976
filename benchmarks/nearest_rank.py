"""The 95th percentile that the benchmarks compare with their targets."""

from __future__ import annotations

from collections.abc import Sequence


def percentile_95(values: Sequence[float]) -> float:
    """Return the smallest of the values that at least 95 % of them do not exceed.

    It is a measured value, however few there are.
    """
    ordered = sorted(values)
    return ordered[max(0, -(-95 * len(ordered) // 100) - 1)]
