"""The URIs of an editor and the paths they name."""

from __future__ import annotations

import os
import re
from urllib.parse import quote_from_bytes, unquote, unquote_to_bytes

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_DRIVE = re.compile(r"/+([A-Za-z]):")
_UNQUOTED = "/-._~!$&'()*+,;=@"


def path_of_uri(uri: str) -> str:
    """The real path of a ``file:`` URI.

    Any other URI (``untitled:Untitled-1``, a notebook's cell) has no file. It gets a path of its own under its
    scheme's name, where no file is: ``/untitled/Untitled-1.py``.
    """
    match = _SCHEME.match(uri)
    if match is None:
        return os.path.realpath(uri)
    rest = uri[match.end() :]
    if match[1].lower() == "file":
        return os.path.realpath(_file_path(rest))
    name = unquote(rest).lstrip("/")
    return f"/{match[1].lower()}/{name}" + ("" if name.endswith(".py") else ".py")


def _file_path(rest: str) -> str:
    """The path of what follows ``file:``."""
    authority, path = "", rest
    if rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        path = slash + path
    path = os.fsdecode(unquote_to_bytes(path))
    if authority not in ("", "localhost"):
        return f"//{authority}{path}"
    drive = _DRIVE.match(path) if os.name == "nt" else None
    return path if drive is None else f"{drive[1].upper()}:{path[drive.end() :]}"


def uri_of_path(path: str) -> str:
    """The ``file:`` URI of an absolute path."""
    if os.name == "nt":
        path = path.replace("\\", "/")
    if path.startswith("//"):
        return "file:" + quote_from_bytes(os.fsencode(path), _UNQUOTED)
    return "file://" + quote_from_bytes(os.fsencode("/" + path.lstrip("/")), _UNQUOTED)
