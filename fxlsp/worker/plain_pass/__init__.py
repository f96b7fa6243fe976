"""Plain pass: torch.fx's own symbolic trace, and the values of its graph.

In: a constructed model and its inputs. Out: a graph, its values, and the nodes, modules and calls of a report. Tracer
and interpreter are subclasses of torch's that record and do not change the graph.
"""
