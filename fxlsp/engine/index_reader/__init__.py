"""Process that reads the files of a large workspace for the index, and its client.

In: folders. Out: summaries of files, as a stream. The process runs no user code and ends with the server. A file that
kills it twice is left out.
"""
