"""What the settings leave out, for commands that look into folders."""

from __future__ import annotations

import os
from functools import cache

from fxlsp.engine.settings.exclusion import Exclusion
from fxlsp.engine.settings.settings import read_settings


def is_excluded(path: str) -> bool:
    """Whether the settings of the folder around it exclude a file, or all of a folder.

    Args:
        path: real and absolute; that of a folder ends with a separator.
    """
    return _exclusion(os.path.dirname(path.rstrip(os.sep)))(path)


@cache
def _exclusion(folder: str) -> Exclusion:
    return read_settings(folder)[0].exclude
