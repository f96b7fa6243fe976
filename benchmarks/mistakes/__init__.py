"""Models with one mistake each, and whether it is reported.

In: hosts, and what is replaced in their texts: snippets of a table, sizes, random changes of published files. Out: the
text of each broken model, where its problem belongs, and the verdicts on traces of it. A mistake says itself which
problems report it, so every collection is judged by the same function.
"""
