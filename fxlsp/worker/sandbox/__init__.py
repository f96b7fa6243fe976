"""What a traced file may not do, and what it gets instead.

In: a process that is about to run user code. Out: the same process without sockets, other processes, writes outside its
scratch folder, accelerators and weights. What is replaced is replaced before the first line of user code runs.
"""
