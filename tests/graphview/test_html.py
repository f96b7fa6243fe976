"""The page in a browser: what it shows, and what clicks, keys and messages do."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dev.editors.chromium import Tab
from fxlsp.graphview.html import page_of_picture
from fxlsp.graphview.picture import picture_of
from fxlsp.report.problems import Problem
from fxlsp.report.report import Report

Show = Callable[..., Any]


@pytest.fixture
def show(tab: Tab, tmp_path: Path) -> Show:
    """Opens the page of a report, and waits for its first picture."""

    async def show(report: Report, fragment: str = "", **options: Any) -> None:
        path = tmp_path / "graph.html"
        path.write_text(page_of_picture(picture_of(report), **options), encoding="utf-8")
        # What a click opens is no page: the test wants the address, not an editor.
        listen = "addEventListener('click', (event) => { const link = event.target.closest('a[href]');"
        listen += " if (link) { (window.followed ??= []).push(link.href); event.preventDefault(); } }, true);"
        await tab.call("Page.addScriptToEvaluateOnNewDocument", source=listen)
        await tab.go(path.as_uri() + fragment)
        await pictures(tab, 1)

    return show


async def pictures(tab: Tab, number: int) -> None:
    """Waits for the n-th picture since the page was opened."""
    await tab.until(f"document.documentElement.dataset.pictures >= {number}")


async def shown(tab: Tab, kind: str = "item") -> list[str]:
    """The titles of the nodes and closed boxes, or of open ones, that are drawn."""
    titles: list[str] = await tab.evaluate(
        f"[...document.querySelectorAll('#canvas .{kind}')].map((each) => each.querySelector('.title').firstChild.data)"
    )
    return titles


async def middle(tab: Tab, title: str, kind: str = "item") -> tuple[float, float]:
    """Where something with that title is in the window."""
    found = f"""[...document.querySelectorAll('#canvas .{kind}')]
        .find((each) => each.querySelector('.title').firstChild.data === {json.dumps(title)})"""
    x, y = await tab.evaluate(
        f"(() => {{ const {{x, y, width, height}} = {found}.getBoundingClientRect();"
        " return [x + width / 2, y + height / 2]; })()"
    )
    return x, y


async def click(tab: Tab, title: str, kind: str = "item") -> None:
    await tab.click(*await middle(tab, title, kind))


async def details(tab: Tab) -> str:
    return str(await tab.evaluate("document.getElementById('details').innerText"))


async def test_a_click_opens_a_module_where_it_is_and_another_closes_it(tab: Tab, show: Show, resnet: Report) -> None:
    await show(resnet, depth=0)
    outer = ["x", "stem", "layer1", "layer2", "layer3", "pool", "flatten", "head", "output"]
    assert await shown(tab) == outer
    corner = "document.querySelector('#canvas [data-id=\"{}\"]').getBoundingClientRect().top"
    box = await tab.evaluate("document.querySelectorAll('#canvas .box')[1].dataset.id")
    top = await tab.evaluate(corner.format(box))
    await click(tab, "layer1")
    await pictures(tab, 2)
    assert set(await shown(tab)) == {*outer, "0", "1"} - {"layer1"}
    assert await shown(tab, "header") == ["layer1"]
    assert await tab.evaluate(corner.format(box)) == pytest.approx(top, abs=1)
    await click(tab, "layer1", "header")
    await pictures(tab, 3)
    assert sorted(await shown(tab)) == sorted(outer)


async def test_it_asks_the_network_for_nothing(tab: Tab, show: Show, resnet: Report) -> None:
    await show(resnet)
    assert {address.partition(":")[0] for address in tab.requested} <= {"file", "blob"}


async def test_a_click_on_a_node_opens_its_line(tab: Tab, show: Show, early_exit: Report) -> None:
    await show(early_exit)
    await click(tab, "answer")
    (address,) = await tab.evaluate("window.followed")
    (node,) = [node for node in early_exit.nodes if node.name == "answer"]
    assert node.location is not None
    assert address == f"vscode://file{node.location.file}:{node.location.line}:{node.location.column}"
    text = await details(tab)
    assert "answer" in text
    assert "(8, 64) → (8, 10)" in text


async def test_dragging_moves_the_picture_and_opens_nothing(tab: Tab, show: Show, early_exit: Report) -> None:
    await show(early_exit)
    x, y = await middle(tab, "answer")
    await tab.mouse("mousePressed", x, y)
    await tab.mouse("mouseMoved", x - 30, y - 40)
    await tab.mouse("mouseMoved", x - 60, y - 80)
    await tab.mouse("mouseReleased", x - 60, y - 80)
    await tab.until("new Promise((done) => requestAnimationFrame(() => done(true)))")
    assert await middle(tab, "answer") == pytest.approx((x - 60, y - 80), abs=1)
    assert await tab.evaluate("window.followed ?? []") == []


async def test_in_an_editor_clicks_and_reveals_are_messages(tab: Tab, show: Show, resnet: Report) -> None:
    api = "window.said = []; window.acquireVsCodeApi = () => ({ postMessage: (message) => said.push(message),"
    api += " getState: () => undefined, setState() {} });"
    await tab.call("Page.addScriptToEvaluateOnNewDocument", source=api)
    await show(resnet, depth=0)
    await tab.until("said.some((message) => message.type === 'ready')")
    await tab.evaluate("postMessage({ type: 'reveal', node: 'layer2_0_conv1' }, '*')")
    await pictures(tab, 2)
    assert await tab.evaluate("document.querySelector('.chosen .title').textContent") == "conv1"
    x, y = await middle(tab, "conv1")
    width, height = await tab.evaluate("[innerWidth, innerHeight]")
    assert 0 < x < width
    assert 0 < y < height
    await tab.click(x, y)
    opened = await tab.evaluate("said.findLast((message) => message.type === 'open')")
    (node,) = [node for node in resnet.nodes if node.name == "layer2_0_conv1"]
    assert node.location is not None
    assert (opened["node"], opened["place"]["file"], opened["place"]["line"]) == (
        *("layer2_0_conv1", node.location.file),
        node.location.line,
    )
    # And back: from an expression to its node.
    place = json.dumps({"file": node.location.file, "line": node.location.line, "column": node.location.column})
    await tab.evaluate(f"postMessage({{ type: 'reveal', place: {place} }}, '*')")
    await pictures(tab, 3)
    assert await tab.evaluate("said.findLast((message) => message.type === 'chosen').path.endsWith('.conv1')")


async def test_a_fragment_says_what_is_shown_first(tab: Tab, show: Show, resnet: Report) -> None:
    await show(resnet, "#path=layer3.1", depth=0)
    await pictures(tab, 2)
    assert await tab.evaluate("document.querySelector('.chosen .title').textContent") == "1"
    assert "layer3.1" in await details(tab)


async def test_search_finds_by_every_word_and_reveals_what_is_picked(tab: Tab, show: Show, resnet: Report) -> None:
    await show(resnet, depth=0)
    await tab.evaluate("document.getElementById('canvas').focus()")
    await tab.press("/")
    await tab.type("bn2 layer1")
    found = "[...document.querySelectorAll('#matches .where')].map((each) => each.textContent)"
    assert await tab.evaluate(found) == ["layer1_0_bn2", "layer1_1_bn2"]
    # What is closed shows that it holds matches.
    assert await tab.evaluate("document.querySelector('#canvas .match .title').textContent") == "layer1"
    await tab.press("ArrowDown")
    await tab.press("Enter")
    await pictures(tab, 2)
    assert "layer1.1.bn2" in await details(tab)
    for text, first in (("(1, 128, 8, 8) call_function", "add_4"), ("operator.add", "add"), ("batchnorm2d", "stem_1")):
        await tab.evaluate(
            f"(() => {{ const search = document.getElementById('search'); search.value = {json.dumps(text)};"
            " search.dispatchEvent(new Event('input')); })()"
        )
        assert (await tab.evaluate(found))[0] == first


async def test_the_keyboard_goes_along_edges_and_opens(tab: Tab, show: Show, resnet: Report) -> None:
    await show(resnet, depth=0)
    await tab.evaluate("document.getElementById('canvas').focus()")
    for _ in range(3):
        await tab.press("ArrowDown")
    assert "layer1" in await details(tab)
    await tab.press("Enter")
    await pictures(tab, 2)
    assert await shown(tab, "header") == ["layer1"]
    await tab.press("e")
    await pictures(tab, 3)
    assert len(await shown(tab, "header")) > 1
    await tab.press("c")
    await pictures(tab, 4)
    assert await shown(tab, "header") == []


async def test_problems_are_marked_and_reported(tab: Tab, show: Show, early_exit: Report) -> None:
    await show(early_exit)
    marked = "[...document.querySelectorAll('#canvas .badge')].map((each) => each.parentElement.dataset.id)"
    assert [early_exit.nodes[int(number)].name for number in await tab.evaluate(marked)] == ["gt"]
    text = await details(tab)
    assert "FX101" in text
    assert "symbolically traced variables cannot be used as inputs to control flow" in text


async def test_a_closed_module_shows_the_problems_inside(tab: Tab, show: Show, resnet: Report) -> None:
    place = next(node.location for node in resnet.nodes if node.name == "layer1_0_conv1")
    await show(replace(resnet, problems=(Problem("FX402", "error", "fails", place),)), depth=0)
    titles = "document.querySelectorAll('#canvas .item:has(.badge.error) .title')"
    assert await tab.evaluate(f"[...{titles}].map((title) => title.textContent)") == ["layer1", "layer2", "layer3"]


async def test_dark_follows_the_system_until_the_switch_is_used(tab: Tab, show: Show, resnet: Report) -> None:
    await tab.prefer("dark")
    await show(resnet)
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = await tab.evaluate(ground)
    await tab.prefer("light")
    await tab.until(f"{ground} !== {json.dumps(dark)}")
    await tab.evaluate("document.getElementById('theme').click()")
    assert await tab.evaluate(ground) == dark


async def test_text_from_a_model_is_text(tab: Tab, show: Show, resnet: Report) -> None:
    """No name ends a script, makes an element or runs."""
    evil = '</script><img src=x onerror="window.ran = true"><!--<script>\'&amp;'
    nodes = (replace(resnet.nodes[0], name=evil, target=evil), *resnet.nodes[1:])
    problem = Problem("FX101", "error", evil, nodes[1].location)
    await show(replace(resnet, target=evil, nodes=nodes, problems=(problem,)), depth=0)
    assert await tab.evaluate("document.getElementById('title').textContent") == evil
    assert await tab.evaluate("document.title") == evil
    label = "document.querySelector('#canvas .item').getAttribute('aria-label')"
    assert evil in await tab.evaluate(label)
    assert evil in await details(tab)
    assert await tab.evaluate("document.images.length") == 0
    assert await tab.evaluate("window.ran") is None


async def test_a_newer_page_in_an_editor_is_as_the_one_before_was_left(tab: Tab, show: Show, resnet: Report) -> None:
    keep = "setState: (state) => (window.name = JSON.stringify(state))"
    kept = "getState: () => (window.name ? JSON.parse(window.name) : undefined)"
    api = f"window.acquireVsCodeApi = () => ({{ postMessage() {{}}, {keep}, {kept} }});"
    await tab.call("Page.addScriptToEvaluateOnNewDocument", source=api)
    await show(resnet, depth=0)
    await click(tab, "layer2")
    await pictures(tab, 2)
    await tab.until("window.name.includes('layer2')")
    opened = await shown(tab)
    assert len(opened) > 9
    await show(resnet, depth=0)
    assert sorted(await shown(tab)) == sorted(opened)
