"""Changes of files on disk, by ``workspace/didChangeWatchedFiles``."""

from __future__ import annotations

from lsprotocol import types

from fxlsp.engine.storage.recordings import WORKSPACE_PATTERN
from fxlsp.server.shared.server import Server
from fxlsp.source.text.documents import path_of_uri

_PATTERNS = ("**/*.py", "**/pyproject.toml", "**/*.md", WORKSPACE_PATTERN)


def register(server: Server) -> None:
    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(params: types.DidChangeWatchedFilesParams) -> None:
        server.engine.changed_on_disk([path_of_uri(change.uri) for change in params.changes])


def registration() -> types.Registration:
    """Return the registration of the files that the editor is to watch."""
    watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in _PATTERNS]
    options = types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
    method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    return types.Registration(id=method, method=method, register_options=options)
