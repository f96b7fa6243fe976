"""The processes that trace: the supervisor, and the workers and checkpoints that it starts.

In: requests from the server. Out: the messages of the workers. ``start`` is the first step of each process that is not
forked. What runs in a worker is in ``worker`` and knows nothing of the supervisor's side.
"""
