"""Recovering pass: continues past each failure of torch.fx, and reports them all.

In: a constructed model and its inputs. Out: a graph of the whole model and a problem for each failure on the way,
merged with the report of the plain pass. The verdict remains that of the plain pass.
"""
