"""Environment of the processes that trace: that of the editor, without the values of its secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping

HIDDEN = "hidden-by-fxlsp"
"""Value in the place of a secret. Code that requires the variable to be set runs on."""

_REMOVED = ("PYTHONDONTWRITEBYTECODE", "__PYVENV_LAUNCHER__")
"""The first would keep modules from being cached; by the second, macOS takes the process for another Python."""
_ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")

_SECRET_WORDS = re.compile(
    r"(?:^|_)(?:auth|authtoken|apikey|cookie|credentials?|pass|passphrase|passwd|\w*password|pat|secrets?|token)(?:_|$)"
    r"|(?:^|_)(?:access|api|auth|encryption|private|secret|signing)_?keys?(?:_|$)",
    re.IGNORECASE,
)
"""Words of names. ``tokens`` is none of them: ``MAX_TOKENS`` is a number."""
_KEY = re.compile(r"(?:^|_)key$", re.IGNORECASE)
_OPAQUE = re.compile(r"[A-Za-z0-9+/=_-]{20,}")
"""Value of a variable named ``..._KEY`` that is one: ``DATASET_KEY=image`` is not."""
_SWITCH = re.compile(r"\d{0,3}|true|false|yes|no|on|off", re.IGNORECASE)
"""Values that are no secret whatever the name says: ``USE_AUTH=1``."""
_SECRET_VALUES = re.compile(
    r"://[^/@\s:]*:[^/@\s]+@"
    r"|\b(?:gh[opsur]_|github_pat_|glpat-|hf_|npm_|pypi-|sk-|xox[abprs]-)[A-Za-z0-9_-]{16,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\."
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
"""Passwords in addresses, tokens by the beginnings that their issuers document, JSON web tokens, private keys."""


def tracing_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a process that traces.

    The project's variables hold in it. A process that forks must have one thread and no accelerator (see
    :mod:`fxlsp.tracing`).
    """
    environment = {
        name: HIDDEN if _is_secret(name, value) else value for name, value in variables.items() if name not in _REMOVED
    }
    return {**environment, **dict.fromkeys(_ONE_THREAD, "1"), "CUDA_VISIBLE_DEVICES": ""}


def _is_secret(name: str, value: str) -> bool:
    if _SWITCH.fullmatch(value):
        return False
    if _SECRET_WORDS.search(name) or _SECRET_VALUES.search(value):
        return True
    return _KEY.search(name) is not None and _OPAQUE.fullmatch(value) is not None
