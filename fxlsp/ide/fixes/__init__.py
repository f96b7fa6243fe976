"""Quick fixes: edits of the text that remove a problem. One file a fix.

In: a problem's code and span, the number that was proven to fit, and the current text. Out: edits that are right for
certain, after which the program means the same, or runs where it failed. Where there is no such edit, there is no fix.
"""
