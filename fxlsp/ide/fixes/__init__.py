"""Quick fixes: edits of the text that remove a problem. One file a fix.

In: a problem's code and span, and the current text; nothing else. Out: edits that are right for certain, after which
the program means the same. Where there is no such edit, there is no fix.
"""
