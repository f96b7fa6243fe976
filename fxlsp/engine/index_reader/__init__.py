"""The process that reads the files of a large workspace for the index, and its client.

In: folders. Out: summaries of files, streamed. It runs no user code, ends with the server, and a file that kills it
twice is left out.
"""
