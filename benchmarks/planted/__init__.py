"""Mistakes and look-alikes that are planted into models: where, what, and the expected problem.

In: a snippet for a constructor and one for a ``forward``. Out: the text of a small, a middle and a published model with
them, and the line on which the problem belongs. Each host has the factory ``net()``.
"""
