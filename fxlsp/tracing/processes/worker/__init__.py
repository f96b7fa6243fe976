"""The worker's side: what runs in a worker or checkpoint before, around and after a job.

In: a request. Out: the messages of its job. A worker carries out one request and exits. A checkpoint is a worker that
has run the imports of a file and waits there to be forked; it holds no part of a model.
"""
