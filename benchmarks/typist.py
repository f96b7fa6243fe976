"""Recorded editing sessions, made by a generator: who types what, key by key, and when.

A session is reproducible from its number. Between 1.4 and 2.8 seconds there is no pause, so that it is certain of each
pause whether the user rests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

REST_SECONDS = 2.8
"""Shortest pause in which the user rests, and reads what is shown."""

_KEY_SECONDS = (0.06, 0.3)
_LINE_SECONDS = (0.25, 0.8)
_MOVE_SECONDS = (0.5, 1.0)

HEAD = "import torch\nfrom torch import nn\n\n\n"

PARENT = (
    HEAD
    + """\
# fxlsp: Net()(torch.randn(2, 3, 16, 16))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.fc = nn.Linear(8, 10)

    def forward(self, x):
        x = self.conv(x)
        x = self.norm(x).relu()
        x = x.mean((2, 3))
        x = self.fc(x)
        return x.softmax(-1)
"""
)


@dataclass(frozen=True, slots=True)
class Key:
    """One edit, or none: only a pause or a save."""

    pause: float
    """Seconds before it."""
    start: int = 0
    """Offsets into the text before it."""
    end: int = 0
    text: str = ""
    saves: bool = False
    mistake: str = ""
    """The code of the problem of a mistake that this key finishes."""

    @property
    def edits(self) -> bool:
        return self.start != self.end or bool(self.text)

    @property
    def is_rest(self) -> bool:
        """Whether the user has rested before it."""
        return self.pause >= REST_SECONDS


@dataclass
class Typist:
    """User who writes; every method adds keys to the session."""

    rng: Random
    text: str
    cursor: int = 0
    closes_brackets: bool = False
    """Whether the editor inserts closing brackets itself."""
    keys: list[Key] = field(default_factory=list)
    _open: int = 0
    """Closing brackets behind the cursor that the editor has inserted."""

    def write(self, text: str, mistake: str = "") -> None:
        """Type a text; ``\\n`` is followed by the indentation of the next line as the editor inserts it."""
        units = _units(text)
        for number, unit in enumerate(units):
            self._press(unit, mistake if number == len(units) - 1 else "")

    def erase(self, text: str) -> None:
        """Delete a text before the cursor, character by character."""
        assert self.text[: self.cursor].endswith(text), text
        for _ in text:
            self._edit(self._pause(_KEY_SECONDS), self.cursor - 1, self.cursor, "")
            self.cursor -= 1

    def go(self, before: str, after: str = "", *, last: bool = False) -> None:
        """Move the cursor between two texts that are beside each other."""
        place = (self.text.rindex if last else self.text.index)(before + after) + len(before)
        self.cursor, self._open = place, 0
        self.keys.append(Key(self._pause(_MOVE_SECONDS)))

    def change(self, old: str, new: str, before: str = "", mistake: str = "") -> None:
        """Replace a text by another one, typed in its place."""
        self.go(before + old)
        self.erase(old)
        self.write(new, mistake)

    def paste(self, text: str) -> None:
        self._edit(self._pause(_LINE_SECONDS), self.cursor, self.cursor, text)
        self.cursor += len(text)

    def cut(self, text: str) -> None:
        """Delete a text at once, and leave the cursor there."""
        self.go("", text)
        self._edit(self._pause(_LINE_SECONDS), self.cursor, self.cursor + len(text), "")

    def replace_everywhere(self, old: str, new: str) -> None:
        """Rename by the editor: all places within a moment."""
        pause = self._pause(_LINE_SECONDS)
        while old in self.text:
            start = self.text.index(old)
            self._edit(pause, start, start + len(old), new)
            pause = 0.0

    def rest(self) -> None:
        self.keys.append(Key(self.rng.uniform(REST_SECONDS, REST_SECONDS + 0.6)))

    def save(self) -> None:
        self.keys.append(Key(self._pause(_LINE_SECONDS), saves=True))

    def _press(self, unit: str, mistake: str) -> None:
        pause = self._pause(_LINE_SECONDS if unit.startswith("\n") else _KEY_SECONDS)
        if unit == ")" and self._open and self.text[self.cursor : self.cursor + 1] == ")":
            self._open -= 1
            self.cursor += 1
            self.keys.append(Key(pause, mistake=mistake))
            return
        closing = ")" if unit == "(" and self.closes_brackets else ""
        self._open += len(closing)
        self._edit(pause, self.cursor, self.cursor, unit + closing, mistake)
        self.cursor += len(unit)

    def _edit(self, pause: float, start: int, end: int, text: str, mistake: str = "") -> None:
        self.text = self.text[:start] + text + self.text[end:]
        self.keys.append(Key(pause, start, end, text, mistake=mistake))

    def _pause(self, seconds: tuple[float, float]) -> float:
        return self.rng.uniform(*seconds)


def _units(text: str) -> list[str]:
    """Return what each key inserts: a character, or a line break with the indentation after it."""
    units: list[str] = []
    for character in text:
        if character == " " and units and units[-1].startswith("\n") and not units[-1].strip():
            units[-1] += character
        else:
            units.append(character)
    return units


def _from_nothing(typist: Typist) -> None:
    """Write a model with a layer whose size is wrong, and mend that."""
    width = typist.rng.choice((16, 32))
    typist.write("# fxlsp: Net()(torch.randn(4, 8))\nclass Net(nn.Module):\n    def __init__(self):\n")
    typist.write("        super().__init__()\n")
    typist.write(f"        self.one = nn.Linear(8, {width})\n        self.two = nn.Linear({width + 1}, 2)\n\n")
    typist.write(
        "    def forward(self, x):\n        x = self.one(x).relu()\n        return self.two(x)", mistake="FX401"
    )
    typist.rest()
    typist.change(str(width + 1), str(width), "nn.Linear(")
    typist.rest()


def _misspelt(typist: Typist) -> None:
    """Write a new line with a misspelt attribute, then go on, then mend it."""
    typist.go("x = self.conv(x)")
    typist.write("\n        x = self.nrm(x)", mistake="FX403")
    typist.write("\n        x = x + 1")
    typist.rest()
    typist.change("nrm", "norm", "self.")
    typist.rest()


def _insert_layer(typist: Typist) -> None:
    """Insert a layer, used three lines further down, without a mistake."""
    typist.go("self.norm = nn.BatchNorm2d(8)")
    typist.write("\n        self.deep = nn.Conv2d(\n            8, 16, 3\n        )")
    typist.change("8", "16", "nn.Linear(")
    typist.go("x = self.norm(x).relu()")
    typist.write("\n        x = self.deep(x)")
    typist.rest()


def _rename_by_hand(typist: Typist) -> None:
    """Rename an attribute at each of its places, one after the other."""
    typist.change("conv", "stem", "self.")
    typist.change("conv", "stem", "x = self.")
    typist.rest()
    typist.replace_everywhere("self.fc", "self.head")
    typist.rest()


def _paste_block(typist: Typist) -> None:
    """Paste lines that need a layer, then write that layer."""
    typist.go("x = self.norm(x).relu()\n")
    typist.paste("        y = self.side(x)\n        x = x + y\n")
    typist.go("self.norm = nn.BatchNorm2d(8)")
    typist.write("\n        self.side = nn.Conv2d(8, 8, 1)")
    typist.rest()
    typist.save()
    typist.rest()


def _control_flow(typist: Typist) -> None:
    """Write a condition on a tensor, stay in the line, and take it back."""
    typist.go("x = x.mean((2, 3))")
    typist.write("\n        if x.sum() > 0:\n            x = x * 2", mistake="FX101")
    typist.rest()
    typist.cut("        if x.sum() > 0:\n            x = x * 2\n")
    typist.rest()


def _method(typist: Typist) -> None:
    """Extract lines to a method, in several steps."""
    typist.go("", "    def forward")
    typist.write("    def stem(self, x):\n        x = self.conv(x)\n        return self.norm(x).relu()\n\n")
    typist.cut("        x = self.norm(x).relu()\n")
    typist.go("x = self.conv(x)", last=True)
    typist.erase("self.conv(x)")
    typist.write("self.stem(x)")
    typist.rest()


def _numbers(typist: Typist) -> None:
    """Change sizes, first in one place and later in the other."""
    typist.change("8", "12", "nn.Conv2d(3, ", mistake="FX401")
    typist.rest()
    typist.change("8", "12", "nn.BatchNorm2d(")
    typist.change("8", "12", "nn.Linear(")
    typist.rest()


def _unclosed(typist: Typist) -> None:
    """Leave a bracket open, go on in the next line, come back."""
    typist.go("x = self.fc(x)")
    typist.write("\n        x = torch.cat([x, x]", mistake="FX901")
    typist.write("\n        x = x * 2")
    typist.rest()
    typist.go("torch.cat([x, x]")
    typist.write(")")
    typist.rest()


def _rework(typist: Typist) -> None:
    """Rewrite the last lines of a forward, and the recipe above the class."""
    typist.go("return x.softmax(-1)")
    typist.erase("x.softmax(-1)")
    typist.write("torch.log_softmax(x, dim=-1)")
    typist.change("16, 16", "24, 24", "torch.randn(2, 3, ")
    typist.go("x = x.mean((2, 3))")
    typist.erase("mean((2, 3))")
    typist.write("flatten(2).mean(-1)")
    typist.rest()


_STORIES: tuple[tuple[Callable[[Typist], None], str], ...] = (
    (_from_nothing, HEAD),
    (_misspelt, PARENT),
    (_insert_layer, PARENT),
    (_rename_by_hand, PARENT),
    (_paste_block, PARENT),
    (_control_flow, PARENT),
    (_method, PARENT),
    (_numbers, PARENT),
    (_unclosed, PARENT),
    (_rework, PARENT),
)


@dataclass(frozen=True, slots=True)
class EditingSession:
    """A text, and the keys that its user presses."""

    name: str
    text: str
    keys: tuple[Key, ...]


def editing_session(number: int) -> EditingSession:
    """Return the session of a number, always the same."""
    story, text = _STORIES[number % len(_STORIES)]
    typist = Typist(Random(number), text, len(text), closes_brackets=number // len(_STORIES) % 2 == 1)
    if story is _unclosed:
        typist.closes_brackets = False
    typist.rest()
    story(typist)
    return EditingSession(f"{number:02} {story.__name__.strip('_')}", text, tuple(typist.keys))
