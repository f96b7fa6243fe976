"""The supervisor's side: workers and checkpoints as handles, from their start to their end.

In: requests from the server. Out: the messages of the workers, forked or, where the system has no ``fork``, spawned. It
runs no workspace code, and no worker outlives it. A checkpoint serves only while all that it has read is unchanged.
"""
