"""Reports, problems and progress as text for a terminal.

In: reports and problems. Out: lines. Standard output holds results alone.
"""
