"""The tab that the tests of pages look through."""

from __future__ import annotations

import asyncio

import pytest

from dev.editors.chromium import Tab

SECONDS = 60
"""A limit for what is broken."""


async def test_a_tab_goes_on_after_an_answer_that_nobody_waits_for_any_more(tab: Tab) -> None:
    await tab.go("data:text/html,one")
    with pytest.raises(TimeoutError):
        await tab.until("false", seconds=0.1)
    # That ends what is still being evaluated, which the browser then says.
    await asyncio.wait_for(tab.go("data:text/html,other"), SECONDS)
    assert await asyncio.wait_for(tab.evaluate("document.body.textContent"), SECONDS) == "other"
