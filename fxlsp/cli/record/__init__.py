"""Recordings of the user's own programs: ``fxlsp record``, ``fxlsp.record()`` and pytest's ``--fxlsp-record``.

In: a command, a running program or a run of tests. Out: the recording of the workspace, with what it has done merged
into it. The command runs under its own interpreter, where fxlsp need not be installed.
"""
