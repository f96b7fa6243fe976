"""Checkpoints: processes that have run the imports of a file, from which its later traces are forked.

In: a load that is in the middle of its file. Out: workers that continue from there with the file's new text. A
checkpoint holds no part of a model, and serves only while everything that it has read is unchanged.
"""
