"""What containing a worker costs, per fork.

    python -m benchmarks.containment

A child that is forked and exits at once is the base; each other line adds a part of the containment.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time

from fxlsp.tracing.isolation.sandbox.containment import Containment
from fxlsp.tracing.isolation.sandbox.landlock import NO_LANDLOCK, landlock_version

FORKS = 300


def main() -> int:
    parent, version = os.getpid(), landlock_version()
    kinds = {
        "fork": Containment(parent, NO_LANDLOCK, False),
        f"with Landlock {version}": Containment(parent, version, False),
        "with seccomp": Containment(parent, NO_LANDLOCK, None),
        "with both": Containment(parent),
    }
    with tempfile.TemporaryDirectory() as scratch:
        seconds: dict[str, list[float]] = {name: [] for name in kinds}
        for _ in range(FORKS):
            for name, containment in kinds.items():
                seconds[name].append(_fork(containment, scratch))
    base = statistics.median(seconds["fork"])
    for name, times in seconds.items():
        median = statistics.median(times)
        print(f"{name:20} {median * 1000:6.2f} ms in the median, {(median - base) * 1000:+6.2f} ms")
    return 0


def _fork(containment: Containment, scratch: str) -> float:
    began = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        containment.apply(scratch)
        os._exit(0)
    os.waitpid(pid, 0)
    return time.perf_counter() - began


if __name__ == "__main__":
    raise SystemExit(main())
