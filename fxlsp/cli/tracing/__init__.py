"""From a target on the command line to a report, for all commands that trace.

In: ``TARGET``, settings and options. Out: reports or failures. Recipes, interpreters and exclusions are those that the
server would choose.
"""
