"""Recipes in source text: in comments, call sites and Markdown code blocks.

In: a document. Out: recipes with their spans. A recipe either has the same value in every file, or states the file in
which it must be evaluated.
"""
