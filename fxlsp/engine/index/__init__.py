"""What the files of a workspace offer to each other: definitions, base classes, and who mentions a name.

In: summaries of files. Out: names resolved across files. The index looks at no syntax tree, and knows a file by its
newest summary alone.
"""
