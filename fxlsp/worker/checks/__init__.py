"""What is wrong with a graph that torch.fx made without complaint: a folder for each family of codes.

In: a pass, watched while it runs. Out: problems. A check records and changes nothing, and does not know the other
checks.
"""
