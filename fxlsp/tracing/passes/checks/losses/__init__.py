"""Losses outside of ``forward`` that are given what a traced model returns (FX606, FX607).

In: the report of a model and the text of its file, which is read and never run. Out: problems. What the text does not
prove (which model, which loss, which target) is no problem.
"""
