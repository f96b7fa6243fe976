"""Commands of fxlsp, and questions to the user where the editor has no interface.

In: arguments of ``workspace/executeCommand``. Out: data, edits, or a page to show. The names of commands are public.
"""
