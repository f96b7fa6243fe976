"""One request from its target to its report: load, build, plain pass, recovering pass, merge.

In: a request. Out: one report or one failure, with the time of each stage. The flow is that of ``job``; everything else
here is a step of it.
"""
