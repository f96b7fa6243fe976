"""What the commands that trace share: from a target on the command line to a report.

In: ``TARGET``, settings and options. Out: reports or failures. Recipes, interpreters and exclusions are those that the
server would choose.
"""
