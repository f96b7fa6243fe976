"""Synchronization of documents, notebooks and files on disk with the editor.

In: notifications. Out: calls of the engine. The engine's text is always the one that the editor shows.
"""
