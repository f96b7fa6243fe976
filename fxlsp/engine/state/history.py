"""Edits of an open document since each text on which something was traced."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from fxlsp.source.text.documents import Document, TextEdit
from fxlsp.source.text.edits import EditLog


@dataclass(frozen=True, slots=True)
class History:
    """Immutable edit logs of a document, by digest of the text they start from.

    Digests are those of :func:`fxlsp.wire.frames.text_digest`.
    """

    opened: str
    """Digest of the text when the document was opened."""
    current: str
    """Digest of the present text."""
    logs: Mapping[str, EditLog]

    @classmethod
    def starting_at(cls, document: Document) -> History:
        return cls(document.digest, document.digest, _first_logs(document))

    def since(self, digest: str | None) -> EditLog | None:
        """Return the edits since a text; None if that text is not known any more.

        Args:
            digest: digest of the text; None for the text when the document was opened. A trace reports no digest of a
                file outside the workspace, of which it executes the text on disk.
        """
        return self.logs.get(self.opened if digest is None else digest)

    def edited(self, edits: Sequence[TextEdit], document: Document, referenced: Container[str]) -> History:
        """Return the history after ``edits`` led to ``document``.

        Args:
            referenced: digests of earlier texts that must stay known.
        """
        retained = {
            base: log for base, log in self.logs.items() if base in referenced or base in (self.opened, self.current)
        }
        logs = {base: log.extended(edits, document.lines) for base, log in retained.items()}
        logs = {**_first_logs(document), **logs, document.digest: EditLog.starting_at(document.lines)}
        return replace(self, current=document.digest, logs=logs)


def _first_logs(document: Document) -> dict[str, EditLog]:
    """Return the edits since the text itself, and since the program traced for it."""
    program = document.program
    since_program = EditLog.starting_at(program.lines).extended(document.edits_since_program, document.lines)
    return {program.digest: since_program, document.digest: EditLog.starting_at(document.lines)}
