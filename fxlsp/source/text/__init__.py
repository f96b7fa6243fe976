"""Texts and positions in them: documents, edits, coordinates and trees.

In: a text and its edits. Out: an immutable :class:`~fxlsp.source.text.documents.Document`. Only ``positions`` converts
coordinates; only ``uris`` knows how editors name files.
"""
