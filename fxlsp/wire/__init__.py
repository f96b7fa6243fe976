"""Wire protocol between server, supervisor and workers: frames of JSON.

In and out: messages as dataclasses (:mod:`.messages`), sent as JSON objects with a ``type`` (:mod:`.frames`) over
sockets and pipes. Either
side may be slightly newer: unknown fields are ignored, unknown types are logged. A message of a known type that lacks
a field raises :class:`~.frames.WireError`.

Like :mod:`fxlsp.report`, this package also runs inside the project's interpreter under another package name. It imports
only the standard library and ``report``, by relative imports.
"""
