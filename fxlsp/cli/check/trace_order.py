"""Order in which models are traced: creators before what they create."""

from __future__ import annotations

from collections.abc import Sequence

from fxlsp.cli.check.candidates import FoundFile, FoundModel

Member = tuple[FoundFile, FoundModel]
_Key = tuple[str, str]


def trace_generations(files: Sequence[FoundFile]) -> list[list[Member]]:
    """Return the models of ``files`` in the order of their traces.

    First those that no other model creates, then those that these create, and so on. Of classes that create each other,
    the first in the text counts as the parent.
    """
    members = {(file.document.path, model.candidate.name): (file, model) for file in files for model in file.models}
    ranks: dict[_Key, int] = {}
    entered: set[_Key] = set()
    waiting = [(key, False) for key in reversed(members)]
    while waiting:
        key, parents_done = waiting.pop()
        parents = parents_of(members[key]) & members.keys() - {key}
        parents -= {parent for parent in parents if _is_likely_part(members[parent], members[key])}
        if parents_done:
            ranks.setdefault(key, 1 + max((ranks[parent] for parent in parents if parent in ranks), default=-1))
        elif key not in entered:
            entered.add(key)
            waiting.append((key, True))
            waiting.extend((parent, False) for parent in sorted(parents))
    return [[member for key, member in members.items() if ranks[key] == rank] for rank in sorted(set(ranks.values()))]


def _is_likely_part(parent: Member, child: Member) -> bool:
    """Return whether the supposed parent is rather a part of the child.

    One function names both models, and inputs are stated for the child alone.
    """
    (file, model), (_, made) = child, parent
    here = (file.document.path, model.candidate.name)
    mutual = here in parents_of(parent)
    return mutual and not made.candidate.is_fed and model.candidate.is_fed


def parents_of(member: Member) -> set[_Key]:
    """Return file and name of each model that may create a model, in other files too."""
    file, model = member
    here = {(file.document.path, name) for name in model.candidate.parents}
    return here | {(place.path, place.name) for place in model.candidate.users}
