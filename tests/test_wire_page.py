"""The section on the wire in ``docs/protocol.md`` is what the module of the messages says."""

from __future__ import annotations

import pytest

from dev.wire_page import BEGIN, END, PAGE, written
from fxlsp.wire import messages
from fxlsp.wire.vocabulary import WireMessage


def test_the_page_is_current() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert written(page) == page, "run python -m dev.wire_page"


def test_the_page_has_every_message_and_what_is_written_by_hand() -> None:
    page = written(f"By hand.\n{BEGIN}\noutdated\n{END}\nAfter.\n")
    classes = [each for each in vars(messages).values() if isinstance(each, type) and issubclass(each, WireMessage)]
    assert all(f"#### `{each.type}`" in page for each in classes if each is not WireMessage)
    assert page.startswith("By hand.\n")
    assert page.endswith("\nAfter.\n")
    assert "outdated" not in page


def test_a_page_without_the_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="lacks the marks"):
        written("# Protocol\n")
