"""The kind of a class: a module, another class, or unknown.

Apart from the class hierarchy, which needs documents, because a document stores the kinds of its external bases.
"""

from __future__ import annotations

from enum import Enum, auto


class ClassKind(Enum):
    """Whether a class is a subclass of ``torch.nn.Module``."""

    MODULE = auto()
    OTHER = auto()
    UNKNOWN = auto()
    """Imported from a file that is not read."""
