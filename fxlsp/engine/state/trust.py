"""What of a session may run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fxlsp.engine.storage.trusted_folders import is_below


@dataclass(frozen=True, slots=True)
class TrustedScope:
    """The user's decision: everything that the editor opens, or what is in some folders."""

    everything: bool = False
    """By the editor, the environment or the command ``fxlsp.trust``, for this session."""
    folders: frozenset[str] = frozenset()
    """Real paths of the folders that the user trusted in an earlier session."""

    def covers(self, path: str) -> bool:
        """Return whether the code of a file or folder may run."""
        return self.everything or (bool(path) and any(is_below(path, folder) for folder in self.folders))

    def covers_all(self, folders: Iterable[str]) -> bool:
        """Return whether the code of all these workspace folders may run; "" stands for files that are in none.

        A model may import what is in another folder of its workspace, so one folder that is not trusted counts for all.
        """
        known = tuple(folders)
        return self.everything or (bool(known) and all(map(self.covers, known)))
