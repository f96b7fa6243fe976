"""The edits of one open document since each of the texts on which something was traced."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from fxlsp.source.text.documents import Document, TextEdit
from fxlsp.source.text.edits import EditLog


@dataclass(frozen=True, slots=True)
class History:
    """Immutable; texts are named by their digests (:func:`fxlsp.wire.frames.text_digest`)."""

    opened: str
    """The text as it was when the document was opened."""
    current: str
    """The text as it is."""
    logs: Mapping[str, EditLog]

    @classmethod
    def starting_at(cls, document: Document) -> History:
        return cls(document.digest, document.digest, _first_logs(document))

    def since(self, digest: str | None) -> EditLog | None:
        """The edits since that text, None if it is not one of those kept.

        Without a digest, since the document was opened: a trace names no digest for a file outside the workspace,
        of which the text on disk is what ran.
        """
        return self.logs.get(self.opened if digest is None else digest)

    def edited(self, edits: Sequence[TextEdit], document: Document, keep: Container[str]) -> History:
        """The history after ``edits`` led to ``document``; of earlier texts those in ``keep`` stay known."""
        kept = {base: log for base, log in self.logs.items() if base in keep or base in (self.opened, self.current)}
        logs = {base: log.extended(edits, document.lines) for base, log in kept.items()}
        logs = {**_first_logs(document), **logs, document.digest: EditLog.starting_at(document.lines)}
        return replace(self, current=document.digest, logs=logs)


def _first_logs(document: Document) -> dict[str, EditLog]:
    """The edits since the text itself, and since the program that stands for it."""
    program = document.program
    since_program = EditLog.starting_at(program.lines).extended(document.edits_since_program, document.lines)
    return {program.digest: since_program, document.digest: EditLog.starting_at(document.lines)}
