"""Shapes, numbers, paths and tables as text.

In: values of a report. Out: text in Markdown or plain text. All features write the same value in the same way.
"""
