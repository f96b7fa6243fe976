"""The rules, each of which reads the evidence of a failed trial and suggests edits of it.

The modules register theirs when they are imported; ``registry`` says in which order they are tried.
"""

from __future__ import annotations

from . import (
    argument_types,
    argument_values,
    lookups,
    measured,
    module_results,
    omitted,
    predicates,
    rank_messages,
    ranks_dtypes,
    recurrent,
    sequences,
    size_messages,
    sizes,
)
from .registry import RULES, Rule, RuleCounts, suggestions

_REGISTERED = (
    argument_types,
    argument_values,
    lookups,
    measured,
    module_results,
    omitted,
    predicates,
    rank_messages,
    ranks_dtypes,
    recurrent,
    sequences,
    size_messages,
    sizes,
)

__all__ = ["RULES", "Rule", "RuleCounts", "suggestions"]
