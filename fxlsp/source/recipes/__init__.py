"""How a file says that models are made and fed: in comments, in calls, and in the code blocks of Markdown.

In: a document. Out: recipes with their places. A recipe means the same wherever it is evaluated, or names the file
whose
words it uses.
"""
