"""How far an attack that takes hours has come, so that it can be stopped and resumed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import fxlsp


def code_digest() -> str:
    """Return the digest of all Python files of fxlsp: what was tried says nothing of other code."""
    folder = Path(fxlsp.__file__).parent
    digest = blake2b(digest_size=16)
    for file in sorted(folder.rglob("*.py")):
        digest.update(str(file.relative_to(folder)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Share:
    """What one run of a part has to do."""

    seed: int
    seconds: float
    """After which the run ends, finished or not."""
    done: int = 0
    """What earlier runs with this seed have done: messages, edits, models."""
    wanted: int = 10**9
    """What all runs have to do together."""
    patience: float = 1.0
    """Factor of the times after which something is a fault."""

    @property
    def left(self) -> int:
        return self.wanted - self.done

    def name(self, what: str) -> str:
        """Return a text that seeds the random choices of this run alone."""
        return f"{what} {self.seed} {self.done}"


class Outcome(NamedTuple):
    """What one run did."""

    done: int
    wrong: list[str]


@dataclass
class Progress:
    """What was done by all runs with one seed on one state of the code."""

    seed: int
    code: str = field(default_factory=code_digest)
    done: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Progress | None:
        """Return what a file holds; None if there is none, or it is of other code."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            found = cls(data["seed"], data["code"], data["done"], data["wrong"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return found if found.code == code_digest() else None

    def add(self, part: str, outcome: Outcome, path: Path | None) -> None:
        """Record the outcome of a run, in the file ``path`` if there is one."""
        self.done[part] = self.done.get(part, 0) + outcome.done
        self.wrong += [f"{part}: {fault}" for fault in outcome.wrong]
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            written = path.with_suffix(".new")
            written.write_text(json.dumps(vars(self)), encoding="utf-8")
            written.replace(path)
