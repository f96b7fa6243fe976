"""The wire between the server, the template and its children: frames of JSON over a socket or a pipe.

Messages go in and out as dataclasses (:mod:`.messages`), and travel as JSON objects with a ``type`` (:mod:`.frames`).
Either side may be newer by a little: unknown fields are ignored, unknown types are logged. A message of a known type
that lacks something is a :class:`~.frames.WireError`.

As :mod:`fxlsp.report`, this package also runs inside the project's interpreter under another package name. It imports
the standard library and ``report`` alone, by relative imports.
"""
