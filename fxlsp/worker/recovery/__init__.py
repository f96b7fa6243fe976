"""The recovering pass: what torch.fx would record if it did not stop, and every reason for which it does.

In: a constructed model and its inputs. Out: a graph of the whole model and a problem for each failure on the way, put
together with the report of the plain pass. The verdict remains that of the plain pass.
"""
