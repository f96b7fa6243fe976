"""The worker: loads a model under the project's interpreter, traces it with torch.fx and reports what it found.

This package runs in processes of the project's own interpreter, under another package name (see ``bootstrap``), with
nothing but the standard library and torch. It knows torch and nothing of editors; all it says travels over
``wire``.
"""
