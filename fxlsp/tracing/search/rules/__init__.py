"""The rules, each of which reads the evidence of a failed trial and suggests edits of it.

The modules register theirs when they are imported; ``registry`` says in which order they are tried.
"""

from __future__ import annotations

from importlib import import_module

from .registry import MODULES, RULES, Rule, RuleCounts, suggestions

for _name in MODULES:
    import_module(f".{_name}", __package__)

__all__ = ["RULES", "Rule", "RuleCounts", "suggestions"]
