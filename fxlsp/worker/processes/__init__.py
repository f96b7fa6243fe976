"""What it takes to start, watch and end processes: descriptors, limits, lifetimes, crash dumps, side processes.

In: functions and processes. Out: their results, or how they ended. Nothing here knows of passes or requests, and no
process outlives the one that started it.
"""
