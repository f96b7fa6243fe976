"""Quick fixes: edits of the text that make a problem go away, where there is an edit that is right.

A fix is worked out from a problem's code and span and the text as it is now, nothing else. One file a kind of edit.
"""
