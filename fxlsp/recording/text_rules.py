"""Strings that a recording may contain: short ones that are neither paths nor secrets.

A recording may be committed and shared, so that a string which only looks like a secret is left out too.
"""

from __future__ import annotations

import os
import re

LONGEST = 64
"""Number of characters above which a string is data rather than an option."""

_SECRET_NAMES = frozenset(
    {"password", "passwd", "pwd", "passphrase", "secret", "credential", "credentials", "apikey", "authorization"}
)
"""Words that make the name of an argument that of a secret."""
_SECRET_PAIRS = re.compile(
    r"(?:api|access|private|secret|auth|signing|encryption|account|license)_?(?:key|token)"
    r"|(?:hf|bearer|refresh|session|id|github|gitlab|wandb|hub)_?(?:token|key)"
)
_PREFIXES = re.compile(
    r"(?:sk|pk|rk)[-_][A-Za-z0-9]|gh[opsur]_|github_pat_|glpat-|hf_[A-Za-z0-9]{8}|xox[a-z]-|AKIA|ASIA|AIza|ya29\."
    r"|eyJ[A-Za-z0-9_-]{8}|npm_|pypi-|dop_v1_|SG\.|Bearer |Basic |-----BEGIN|ssh-(?:rsa|ed25519) |lin_api_|nvapi-"
)
_ASSIGNED = re.compile(r"(?i)(?:password|passwd|pwd|secret|token|api[-_]?key|access[-_]?key|auth)\s*[=:]\s*\S")
_USER_IN_URL = re.compile(r"://[^/\s@]+@")
_HEX = re.compile(r"[0-9a-fA-F]{32,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_RUN = re.compile(r"[A-Za-z0-9+/]{20,}")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def reason_to_leave_out(text: str, name: str | None = None) -> str | None:
    """Return why a string must not be recorded; None if it may be.

    Args:
        name: of the argument, field or key that has the string.

    Example:
        >>> reason_to_leave_out("bilinear") is None
        True
        >>> reason_to_leave_out("/home/me/data")
        'a path'
    """
    if len(text) > LONGEST:
        return "a long string"
    if name is not None and is_name_of_secret(name):
        return "what may be a secret"
    if is_outside_path(text):
        return "a path"
    if looks_like_secret(text):
        return "what may be a secret"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # A lone surrogate cannot be written to the file.
        return "a string that is not text"
    return None


def is_name_of_secret(name: str) -> bool:
    """Return whether a name announces a secret: ``password``, ``api_key``, but not ``pad_token``."""
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower().replace("-", "_")
    if words == "token" or _SECRET_NAMES & set(words.split("_")):
        return True
    return _SECRET_PAIRS.search(words) is not None


def looks_like_secret(text: str) -> bool:
    """Return whether a text has the form of a password, key or token."""
    stripped = text.strip()
    if _PREFIXES.match(stripped) or _ASSIGNED.search(text) or _USER_IN_URL.search(text) or _HEX.search(text):
        return True
    return any(_is_random(run) for run in _RUN.findall(text))


def is_outside_path(text: str) -> bool:
    """Return whether a text is a path that leads out of any folder: absolute, of a home folder, or upwards."""
    if text.startswith(("~", "file:")) or _DRIVE.match(text) is not None:
        return True
    if text.startswith("/"):
        # A lone slash is a separator.
        return text.strip("/") != ""
    return os.path.normpath(text.replace("\\", "/")).split("/")[0] == os.pardir if text else False


def _is_random(run: str) -> bool:
    """Return whether letters of both cases and digits are mixed as in a generated key."""
    return any(each.islower() for each in run) and any(each.isupper() for each in run) and any(map(str.isdigit, run))
