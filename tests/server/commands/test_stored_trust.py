"""A folder that the user trusted is trusted in later sessions, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.server.conftest import Start
from tests.support.client import Buffer, Client

NOT_TRUSTED = "not traced: trust this workspace first"
NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        return self.fc(x)


if __name__ == "__main__":
    Net()(torch.randn(2, 3))
"""


class Sessions:
    """Sessions of an editor that leaves trust to fxlsp, one after the other."""

    def __init__(self, start: Start, state: Path) -> None:
        self._start, self._state = start, state

    async def begin(self, *folders: Path, trusted: bool | None = None) -> Client:
        options = {"trusted": trusted}
        environment = {"XDG_STATE_HOME": str(self._state)}
        return await self._start(options=options, environment=environment, folders=folders)

    @property
    def file(self) -> Path:
        return self._state / "fxlsp" / "trusted.json"

    @property
    def stored(self) -> Sequence[str]:
        found: list[str] = json.loads(self.file.read_text(encoding="utf-8"))["folders"]
        return found


@pytest.fixture
def sessions(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sessions:
    monkeypatch.delenv("FXLSP_TRUST", raising=False)
    return Sessions(start, tmp_path / "state")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


async def is_traced(client: Client, buffer: Buffer) -> bool:
    """Return whether the model is traced; else its lens says that it is not trusted."""

    async def titles() -> list[str]:
        return [title for _, title in await client.lenses(buffer)]

    found = await client.until(
        titles, lambda found: any("traceable" in title or title == NOT_TRUSTED for title in found)
    )
    return NOT_TRUSTED not in found


async def test_the_command_trusts_the_folder_in_later_sessions_too(sessions: Sessions, project: Path) -> None:
    client = await sessions.begin(project)
    buffer = client.open(project / "net.py", NET)
    assert not await is_traced(client, buffer)
    await client.command("fxlsp.trust")
    assert await is_traced(client, buffer)
    await client.stop()
    assert sessions.stored == [str(project)]
    assert (sessions.file.stat().st_mode & 0o777, sessions.file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    later = await sessions.begin(project)
    assert await is_traced(later, later.open(project / "net.py", NET))


async def test_it_is_taken_back_at_once_and_for_later_sessions(sessions: Sessions, project: Path) -> None:
    client = await sessions.begin(project)
    buffer = client.open(project / "net.py", NET)
    await client.command("fxlsp.trust")
    assert await is_traced(client, buffer)
    await client.command("fxlsp.trust", "forget")
    client.replace(buffer, "Linear(3, 4)", "Linear(3, 5)")
    information = await client.command("fxlsp.information")
    assert information["trusted"] is False
    await client.stop()
    assert sessions.stored == []
    later = await sessions.begin(project)
    assert not await is_traced(later, later.open(project / "net.py", NET))


async def test_a_folder_in_a_trusted_one_is_trusted_and_one_around_or_beside_it_is_not(
    sessions: Sessions, project: Path
) -> None:
    inner, beside = project / "inner", project.with_name("project2")
    for folder in (inner, beside):
        folder.mkdir()
    client = await sessions.begin(project)
    await client.command("fxlsp.trust")
    await client.stop()
    for folder, trusted in ((inner, True), (project.parent, False), (beside, False)):
        client = await sessions.begin(folder)
        assert await is_traced(client, client.open(folder / "net.py", NET)) is trusted, folder
        await client.stop()


async def test_a_file_of_another_folder_is_not_traced_beside_trusted_ones(sessions: Sessions, project: Path) -> None:
    client = await sessions.begin(project)
    await client.command("fxlsp.trust")
    await client.stop()
    client = await sessions.begin(project)
    assert await is_traced(client, client.open(project / "net.py", NET))
    outside = client.open(project.parent / "downloaded.py", NET)
    assert not await is_traced(client, outside)
    client.replace(outside, "Linear(3, 4)", "Linear(3, 5)")
    assert not await is_traced(client, outside)
    # The lens gives trust for the session.
    await client.command("fxlsp.trust")
    assert await is_traced(client, outside)


async def test_with_one_folder_that_is_not_trusted_nothing_runs(sessions: Sessions, project: Path) -> None:
    other = project.with_name("other")
    other.mkdir()
    client = await sessions.begin(project)
    await client.command("fxlsp.trust")
    await client.stop()
    client = await sessions.begin(project, other)
    assert not await is_traced(client, client.open(project / "net.py", NET))
    assert not await is_traced(client, client.open(other / "net.py", NET))


async def test_the_decision_of_the_editor_counts_more(sessions: Sessions, project: Path) -> None:
    client = await sessions.begin(project)
    await client.command("fxlsp.trust")
    await client.stop()
    client = await sessions.begin(project, trusted=False)
    assert not await is_traced(client, client.open(project / "net.py", NET))


async def test_without_a_place_to_store_it_trust_holds_for_the_session(sessions: Sessions, project: Path) -> None:
    sessions.file.parent.parent.write_text("a file in the place of the folder")
    client = await sessions.begin(project)
    buffer = client.open(project / "net.py", NET)
    await client.command("fxlsp.trust")
    assert await is_traced(client, buffer)
    messages = [params["message"] for method, params in client.heard if method == "window/logMessage"]
    assert any("holds for this session alone" in message for message in messages)


async def test_a_workspace_cannot_trust_itself(sessions: Sessions, project: Path) -> None:
    for name in ("trusted.json", "fxlsp/trusted.json", ".local/state/fxlsp/trusted.json"):
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"version": 1, "folders": [str(project), "/"]}))
    client = await sessions.begin(project)
    assert not await is_traced(client, client.open(project / "net.py", NET))
