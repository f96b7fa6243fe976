"""The commands of fxlsp, and the questions that they ask_user the user where the editor has no interface of its own.

In: arguments of ``workspace/executeCommand``. Out: data, edits, or a page to show. The names of commands are public.
"""
