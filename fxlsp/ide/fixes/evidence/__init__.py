"""What quick fixes read from the text around a problem, before they propose an edit.

In: the Python tree of a text that parses. Out: facts about a class, the contents of a container, traced values and
names of torch. What is not certain from the text is not returned.
"""
