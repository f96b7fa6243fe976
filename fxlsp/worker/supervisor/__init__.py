"""Supervisor process with torch imported, and the workers that execute requests.

In: requests from the server. Out: the messages of the workers. The supervisor runs no workspace code; a worker executes
one request and exits, and none outlives the supervisor. A checkpoint is a worker from which later ones are forked.
"""
