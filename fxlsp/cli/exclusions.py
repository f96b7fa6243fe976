"""What the settings leave out, for commands that look into folders."""

from __future__ import annotations

import os
from functools import cache

from fxlsp.engine.exclusion import Exclusion
from fxlsp.engine.settings import read_settings


def is_excluded(path: str) -> bool:
    """Whether the settings of its folder leave a file, or all of a folder, out; ``path`` is real and absolute."""
    return _exclusion(os.path.dirname(path))(path)


@cache
def _exclusion(folder: str) -> Exclusion:
    return read_settings(folder)[0].exclude
