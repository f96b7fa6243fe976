"""The server's side of a supervisor: start, messages, restart, end.

In: trace requests. Out: a report or a failure for each, whatever happens to the process. A process that keeps dying is
not restarted for ever, and none is left running.
"""
