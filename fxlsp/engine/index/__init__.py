"""Definitions, base classes and mentions of names across a workspace's files.

In: summaries of files. Out: names resolved across files. The index never reads a syntax tree: it knows a file by its
newest summary alone.
"""
