"""Conversion between the URIs of an editor and paths."""

from __future__ import annotations

import os
import re
from urllib.parse import quote_from_bytes, unquote, unquote_to_bytes

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_DRIVE = re.compile(r"/+([A-Za-z]):")
_UNQUOTED = "/-._~!$&'()*+,;=@"


def path_of_uri(uri: str) -> str:
    """Return the real path of a ``file:`` URI.

    Any other URI (``untitled:Untitled-1``, a cell of a notebook) has no file. Its path is one below the name of its
    scheme, where no file exists: ``/untitled/Untitled-1.py``.
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
    """Return the path of the part of a URI after ``file:``."""
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
    """Return the ``file:`` URI of an absolute path."""
    if os.name == "nt":
        path = path.replace("\\", "/")
    if path.startswith("//"):
        return "file:" + quote_from_bytes(os.fsencode(path), _UNQUOTED)
    return "file://" + quote_from_bytes(os.fsencode("/" + path.lstrip("/")), _UNQUOTED)
