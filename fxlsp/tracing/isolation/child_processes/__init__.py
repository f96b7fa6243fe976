"""Primitives of processes: descriptors, limits, lifetimes, crash dumps, side processes.

In: functions and processes. Out: their results, or how they ended. No process outlives the one that started it.
"""
