"""``python -m dev.structure [-v]``: prints the counts, with ``-v`` what was counted; fails above a limit."""

from __future__ import annotations

import sys

from .counts import counts
from .sources import read_sources


def main(arguments: list[str]) -> int:
    found = list(counts(read_sources()))
    for each in found:
        print(f"{each.number:6} of {each.limit:6}  {each.name}{'  <- above its limit' if each.is_exceeded else ''}")
        if each.is_exceeded or "-v" in arguments:
            print("".join(f"{'':18}{line}\n" for line in each.found), end="")
    return int(any(each.is_exceeded for each in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
