"""Attacks a server: ``python -m benchmarks.reliability [PART ...] [--seconds N] [--seed N]``.

Exits with 1 if something went wrong. What each part does and what it found: docs/reliability.md.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
from collections.abc import Callable, Coroutine

from benchmarks.reliability.hostile import run_compositions, run_zoo
from benchmarks.reliability.kills import run_kills
from benchmarks.reliability.protocol import run_messages
from benchmarks.reliability.soak import run_soak
from benchmarks.reliability.text_edits import run_edits

Part = Callable[[int, float], Coroutine[None, None, list[str]]]
PARTS: dict[str, Part] = {
    "zoo": run_zoo,
    "compositions": run_compositions,
    "messages": run_messages,
    "edits": run_edits,
    "soak": lambda _, seconds: run_soak(10_000 if seconds > 600 else 500, seconds),
    "kills": lambda seed, seconds: run_kills(200, seed, seconds),
}
SHORT: dict[str, Part] = {
    "compositions": lambda seed, seconds: run_compositions(seed, seconds, PATIENCE),
    "messages": run_messages,
    "edits": run_edits,
    "kills": lambda seed, seconds: run_kills(200, seed, seconds, PATIENCE),
}
"""Parts that find something within half a minute. CI runs on busy machines: only what is far too late is a fault."""
PATIENCE = 10.0


def main() -> int:
    description = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reliability", description=description)
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], help="left out: all")
    parser.add_argument("--seconds", type=float, default=3600.0, help="for each part (default: %(default)s)")
    parser.add_argument("--short", action="store_true", help=f"half a minute for each of {', '.join(SHORT)}")
    parser.add_argument("--seed", type=int, help="of all that is random; drawn and printed if left out")
    options = parser.parse_args()
    if not sys.platform.startswith("linux"):
        print("The processes of a session are found on Linux only.", file=sys.stderr)
        return 2
    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    chosen = {name: PARTS[name] for name in options.part or PARTS}
    parts, seconds = (SHORT, 30.0) if options.short else (chosen, options.seconds)
    print(f"seed {seed}, process {os.getpid()}", flush=True)
    wrong = [f"{name}: {fault}" for name, part in parts.items() for fault in asyncio.run(part(seed, seconds))]
    print("\n".join(wrong) or "nothing went wrong", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
