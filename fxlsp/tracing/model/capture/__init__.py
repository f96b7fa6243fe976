"""The graph of a model by torch.fx's own tracer, and the values of its nodes: the base of both passes.

In: a constructed model and its inputs. Out: a graph, its values, and the nodes, modules and calls of a report. Tracer
and interpreter are subclasses of torch's that record and do not change the graph.
"""
