"""Reads a workspace as ``fxlsp/engine/index_reader/reader_main.py`` does, but parses files as they say:

- ``# dies``: this process is killed, each time.
- ``# dies once``: the first time.
- ``# waits``: as long as there is no file of that name with ``.go`` behind it.

A file of that name with ``.seen`` behind it tells that this has begun.
"""

import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from fxlsp.engine.index import scan
from fxlsp.engine.index_reader.reader_protocol import read_folders
from fxlsp.source.models.file_summary import FileSummary, file_summary_of
from fxlsp.source.text.documents import Document
from fxlsp.wire.handed_socket import handed_socket


def obeyed(document: Document) -> FileSummary:
    seen, go = Path(document.path + ".seen"), Path(document.path + ".go")
    is_first = not seen.exists()
    if "# dies" in document.text or "# waits" in document.text:
        seen.touch()
    if "# dies\n" in document.text or ("# dies once\n" in document.text and is_first):
        os.kill(os.getpid(), signal.SIGKILL)
    while "# waits\n" in document.text and not go.exists():
        time.sleep(0.002)
    return file_summary_of(document)


scan.file_summary_of = obeyed  # type: ignore[attr-defined]  # imported there for its own use
read_folders(handed_socket(sys.argv[1]))
os._exit(0)
