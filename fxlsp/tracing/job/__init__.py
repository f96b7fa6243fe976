"""One trace request, from target to report: load, build, both passes, merge.

In: a request. Out: one report or one failure, with the time of each stage. ``job`` contains the flow; every other file
is a step of it.
"""
