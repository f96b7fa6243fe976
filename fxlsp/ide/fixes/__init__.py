"""Quick fixes: edits of the text that make a problem go away, where there is an edit that is right. One file a fix.

In: a problem's code and span, and the text as it is now; nothing else. Out: edits after which the program means the
same.
"""
