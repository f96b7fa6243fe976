"""The server's side of a supervisor: starts the process, speaks the wire with it, starts it again when it died.

In: trace requests. Out: a report or a failure for each, whatever becomes of the process. A process that keeps dying is
not started for ever, and none is left behind.
"""
