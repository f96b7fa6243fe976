"""Which files ``fxlsp check`` looks at."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from fxlsp.cli.exit_codes import UsageError
from fxlsp.cli.tracing.exclusions import is_excluded
from fxlsp.engine.index.python_files import files_below, never_stop
from fxlsp.source.text.notebooks.ipynb import SUFFIX


def python_files(paths: Sequence[str]) -> Iterator[str]:
    """Real paths of the Python files and notebooks at and below ``paths``, each once; a file named in ``paths`` always
    counts, others but for those that the settings exclude.

    Raises:
        UsageError: a path does not exist.
    """
    seen: set[str] = set()
    for path in paths:
        if not os.path.exists(path):
            raise UsageError(f"there is no file or folder {path}")
        for found in files_below(path, (".py", SUFFIX), never_stop, is_excluded) if os.path.isdir(path) else [path]:
            real = os.path.realpath(found)
            if real not in seen:
                seen.add(real)
                yield real
