"""Workers that are started rather than forked, where the system has no ``fork`` or the first forked worker fails.

In: requests for traces. Out: workers of the same interface as forked ones, two of them started ahead.
"""
