"""Models that no square image fits, although they state the edge of one: that is reported, and twins are sound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.report import Report
from tests.tracing.search.frames import asked, net

_Net = tuple[str, str, str, str]
_TABLE = (
    "self.patch, self.token = nn.Conv2d(3, 24, 8, 8), nn.Parameter(torch.zeros(1, 1, 24))\n"
    "self.table = nn.Parameter(torch.zeros(1, {}, 24))"
)
_WITH_TOKEN = (
    "x = self.patch(x).flatten(2).transpose(1, 2)\n"
    "x = torch.cat([self.token.expand(x.size(0), -1, -1), x], 1)\nreturn x + self.table"
)
_WITHOUT_TOKEN = "x = self.patch(x).flatten(2).transpose(1, 2)\nreturn x + self.table"
_TABLES = (
    f"{_TABLE.format('(img_size // 8) ** 2')}\nself.other = nn.Parameter(torch.zeros(1, (img_size // 16) ** 2, 24))"
)
_FLAT = "self.conv = nn.Conv2d(3, 64, 3, 2, 1)\nself.fc = nn.Linear({}, 10)"
_FLATTENED = "return self.fc(self.conv(x).flatten(1))"

WRONG: dict[str, tuple[_Net, _Net, str]] = {
    "a table of positions without that of the class token": (
        ("img_size=80", _TABLE.format("(img_size // 8) ** 2"), "x", _WITH_TOKEN),
        ("img_size=80", _TABLE.format("(img_size // 8) ** 2 + 1"), "x", _WITH_TOKEN),
        "return x + self.table",
    ),
    "a table of positions for a token that is not there": (
        ("image_size=96", _TABLE.format("(image_size // 8) ** 2 + 1"), "x", _WITHOUT_TOKEN),
        ("image_size=96", _TABLE.format("(image_size // 8) ** 2"), "x", _WITHOUT_TOKEN),
        "return x + self.table",
    ),
    "a flattened image that lacks one position": (
        ("img_size=32", _FLAT.format("64 * ((img_size // 2) ** 2 - 1)"), "x", _FLATTENED),
        ("img_size=32", _FLAT.format("64 * (img_size // 2) ** 2"), "x", _FLATTENED),
        _FLATTENED,
    ),
}
_BY_PATCH = (
    "self.patch, self.token = nn.Conv2d(3, 24, patch, patch), nn.Parameter(torch.zeros(1, 1, 24))\n"
    "self.table = nn.Parameter(torch.zeros(1, {}, 24))"
)
GUESSED: dict[str, tuple[_Net, _Net, str]] = {
    "a guessed edge without a place for the class token": (
        ("img_size, patch", _BY_PATCH.format("(img_size // patch) ** 2"), "x", _WITH_TOKEN),
        ("img_size, patch", _BY_PATCH.format("(img_size // patch) ** 2 + 1"), "x", _WITH_TOKEN),
        "return x + self.table",
    ),
    "a guessed edge with a place too many": (
        ("image_size, dim=24", _TABLE.format("(image_size // 8) ** 2 + 2"), "x", _WITH_TOKEN),
        ("image_size, dim=24", _TABLE.format("(image_size // 8) ** 2 + 1"), "x", _WITH_TOKEN),
        "return x + self.table",
    ),
}
WRONG_OR_GUESSED = WRONG | GUESSED
SOUND: dict[str, _Net] = {
    "a guessed edge beside a guessed number of positions": (
        "img_size, positions",
        _TABLE.format("positions"),
        "x",
        _WITH_TOKEN,
    ),
    "a guessed edge that counts patches": ("img_size, patch", _BY_PATCH.format("img_size**2"), "x", _WITHOUT_TOKEN),
    "a guessed edge of which a border is cut": (
        "img_size, patch",
        _BY_PATCH.format("(img_size // patch - 1) ** 2 + 1"),
        "x",
        f"x = x[..., : x.shape[2] - 8, : x.shape[3] - 8]\n{_WITH_TOKEN}",
    ),
    "a table of an image of which the argument says nothing": ("", _TABLE.format("7 * 9"), "x", _WITHOUT_TOKEN),
    "a table for a part of the image that is stated": (
        "img_size=64",
        _TABLE.format("(img_size * 7 // 8 // 8) ** 2 + 1"),
        "x",
        _WITH_TOKEN,
    ),
    "a table for maps that are smaller than the image that is stated": (
        "img_size=256",
        _TABLE.format("(img_size // 32) ** 2"),
        "x",
        _WITHOUT_TOKEN,
    ),
    "a flattened image of half the channels, which may be half an image": (
        "img_size=32",
        _FLAT.format("32 * (img_size // 2) ** 2"),
        "x",
        _FLATTENED,
    ),
    "a pair of images side by side": (
        "image_size=32",
        "self.conv, self.fc = nn.Conv2d(3, 64, 4, 4), nn.Linear(64 * (image_size // 4) ** 2, 10)",
        "x",
        "one, two = x.chunk(2, 3)\nreturn self.fc(self.conv(one).flatten(1)) - self.fc(self.conv(two).flatten(1))",
    ),
    "a spectrogram of which the argument states one edge": (
        "img_size=128, frames=1024, patch=16",
        (
            "self.patch = nn.Conv2d(1, 24, patch, patch)\n"
            "self.table = nn.Parameter(torch.zeros(1, (img_size // patch) * (frames // patch), 24))"
        ),
        "x",
        _WITHOUT_TOKEN,
    ),
    "a guessed edge that the patches do not divide": (
        "image_size, patch=14",
        (
            "self.patch = nn.Conv2d(3, 24, patch, patch)\n"
            "self.table = nn.Parameter(torch.zeros(1, image_size**2 // patch**2, 24))"
        ),
        "x",
        _WITHOUT_TOKEN,
    ),
    "an image of which both edges are stated": (
        "img_size=(48, 80)",
        _TABLE.format("img_size[0] // 8 * (img_size[1] // 8) + 1"),
        "x",
        _WITH_TOKEN,
    ),
    "a table of as many positions as the number that is stated": (
        "img_size=64",
        _TABLE.format("img_size"),
        "x",
        _WITH_TOKEN,
    ),
    "an image that has to have one of several edges": (
        "img_size=64",
        _TABLE.format("13 ** 2 + 1"),
        "x",
        f"assert x.shape[2] % 8 == 0\n{_WITH_TOKEN}",
    ),
    "two images of which one is smaller": (
        "img_size=64",
        _TABLES,
        "x, z",
        "a, b = (self.patch(y).flatten(2).transpose(1, 2) for y in (x, z))\nreturn a + self.table, b + self.other",
    ),
}


@pytest.mark.parametrize("what", WRONG_OR_GUESSED)
def test_a_model_that_no_square_image_fits_fails_with_the_one_that_it_states(
    what: str, worker: Any, write: Callable[..., str]
) -> None:
    _expect_failure(worker.report(write(net(*WRONG_OR_GUESSED[what][0])) + ":Net"), what)


@pytest.mark.parametrize("what", WRONG)
def test_an_edit_that_brings_the_cause_is_noticed(what: str, worker: Any, write: Callable[..., str]) -> None:
    wrong, mended, _ = WRONG[what]
    before = worker.report(write(net(*mended)) + ":Net").recipe
    guess = {"init": before.init, "inputs": before.inputs, "source": "search"}
    _expect_failure(asked(worker, write(net(*wrong)), guess), what)


def _expect_failure(report: Report, what: str) -> None:
    errors = [each for each in report.problems if each.code == "FX401"]
    assert [each.severity for each in errors[:1]] == ["error"], (report.recipe, report.problems)
    assert errors[0].message.startswith("runs only where the image is not square, though `im")
    line = errors[0].location.line if errors[0].location is not None else 0
    wrong, _, failing = WRONG_OR_GUESSED[what]
    assert net(*wrong).splitlines()[line - 1].strip() == failing


@pytest.mark.parametrize("what", WRONG_OR_GUESSED)
def test_its_mended_twin_is_sound(what: str, worker: Any, write: Callable[..., str]) -> None:
    assert not _accusations(worker.answer(write(net(*WRONG_OR_GUESSED[what][1])) + ":Net"))


@pytest.mark.parametrize("what", SOUND)
def test_a_model_that_other_images_may_fit_is_not_accused(what: str, worker: Any, write: Callable[..., str]) -> None:
    assert not _accusations(worker.answer(write(net(*SOUND[what])) + ":Net"))


def _accusations(answer: Any) -> list[Any]:
    assert answer["type"] == "report"
    problems = Report.from_json(answer["report"]).problems
    # torch.fx alone cannot follow the assertion.
    return [each for each in problems if each.severity in ("error", "warning") and each.code != "FX101"]
