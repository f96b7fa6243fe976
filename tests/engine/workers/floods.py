"""Fake supervisor that prints without end, and answers traces."""

import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.engine.workers.good import Worker


def flood() -> None:
    while True:
        sys.stderr.write("x" * 100_000 + "\nshort line\n")


threading.Thread(target=flood, daemon=True).start()
Worker().serve()
