"""Several workspace folders, each traced by an interpreter of its own; folders come and go while the server runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.server.conftest import Start
from tests.support.client import Abilities, Buffer, Client

NET = """\
import torch
from installed import width
from torch import nn


# fxlsp: Net()(torch.randn(2, 3))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, width)

    def forward(self, x):
        return self.fc(x)
"""

LINE = "return self.fc(x)"


def environment(folder: Path, width: int) -> str:
    """A virtual environment with torch and a package of its own; its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    packages = folder / "lib" / version / "site-packages"
    # Where torch lies, whatever environment runs the tests.
    (packages / "base.pth").write_text(str(Path(torch.__file__).parents[1]) + "\n")
    (packages / "installed.py").write_text(f"width = {width}\n")
    return str(folder / "bin" / "python")


def folder(parent: Path, name: str, width: int) -> Path:
    made = parent / name
    made.mkdir()
    (made / "net.py").write_text(NET)
    environment(made / ".venv", width)
    return made


async def width_of(client: Client, buffer: Buffer, width: int) -> None:
    await client.until(lambda: client.hints(buffer), lambda hints: hints.get(LINE) == f"(2, {width})")


async def interpreter_of(client: Client, buffer: Buffer) -> str:
    """What the hover on the class says."""
    return str((await client.hover(buffer, "Net(nn.Module)"))["contents"]["value"])


async def test_each_folder_is_traced_by_its_own_interpreter(start: Start, tmp_path: Path) -> None:
    one, two = folder(tmp_path, "one", 8), folder(tmp_path, "two", 16)
    (two / "pyproject.toml").write_text('[tool.fxlsp]\npython = "env"\n')
    (two / ".venv").rename(two / "env")
    client = await start(options={"python": None}, folders=[one])
    first = client.open(one / "net.py")
    await width_of(client, first, 8)

    client.change_folders(added=[two])
    second = client.open(two / "net.py")
    await width_of(client, second, 16)
    assert str(one / ".venv" / "bin" / "python") in await interpreter_of(client, first)
    assert str(two / "env" / "bin" / "python") in await interpreter_of(client, second)
    log = [each["message"] for each in client.said("window/logMessage")]
    assert any(f"{one}/.venv/bin/python (virtual environment of the folder)" in line for line in log)
    assert any(f"{two}/env/bin/python (set by 'python')" in line for line in log)

    client.change_folders(removed=[one])
    client.replace(second, "3))", "5))")
    client.replace(second, "nn.Linear(3", "nn.Linear(5")
    await width_of(client, second, 16)
    # Outside the workspace it belongs to the first folder there is.
    await width_of(client, first, 16)


@pytest.mark.parametrize("key", ["python", "interpreter"])
async def test_the_editor_may_set_an_interpreter_for_each_folder(start: Start, tmp_path: Path, key: str) -> None:
    folders = []
    pythons = {}
    for name, width in (("one", 8), ("two", 16)):
        folders.append(tmp_path / name)
        folders[-1].mkdir()
        (folders[-1] / "net.py").write_text(NET)
        pythons[folders[-1].as_uri()] = environment(tmp_path / f"env-{name}", width)
    client = await start(
        Abilities(configuration=True),
        options={"python": None},
        folders=folders,
        folder_settings={uri: {key: python} for uri, python in pythons.items()},
    )
    one, two = (client.open(each / "net.py") for each in folders)
    await width_of(client, one, 8)
    await width_of(client, two, 16)
    for buffer, python in zip((one, two), pythons.values(), strict=True):
        assert python in await interpreter_of(client, buffer)
