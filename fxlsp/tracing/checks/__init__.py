"""What is wrong with a graph that torch.fx made without complaint: one room a kind.

A check may watch a pass while it runs, and afterwards yields the problems it found. It records and changes nothing.
"""
