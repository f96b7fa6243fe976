"""Programs that the Makefile runs.

``environment``, ``interpreters`` and ``matrix`` need the standard library alone.
"""
