"""Shapes, numbers, paths and tables as text.

In: values of a report. Out: text in markdown or plain. Every answer writes the same value in the same way.
"""
