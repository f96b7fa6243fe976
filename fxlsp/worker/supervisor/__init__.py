"""The process that has torch imported, and the workers that carry out requests for it.

In: requests from the server. Out: the messages of the workers. The supervisor runs no workspace code; a worker carries
out one request and ends, and none outlives the supervisor. A checkpoint is a worker from which later ones are forked.
"""
