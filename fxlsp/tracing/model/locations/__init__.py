"""Mapping from running instructions to source expressions.

The expression is the one that a reader would point at.

In: frames, and the texts that run, unsaved buffers first. Out: locations (:mod:`fxlsp.report.locations`) and spans. A
location is either exact or not given. Only this folder decides whether a file is torch's, fxlsp's or installed.
"""
