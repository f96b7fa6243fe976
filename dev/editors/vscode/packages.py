"""Checks of the packed extensions of all platforms.

Their contents are checked, and the server of one under every CPython of this machine.
"""

from __future__ import annotations

import asyncio
import struct
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from dev.editor import editor
from dev.interpreters import find
from dev.vsix import PLATFORMS, UNIVERSAL, pack, pythons

_MACHINES: Mapping[str, tuple[str, str]] = {
    "linux-x64": ("ELF", "x64"),
    "linux-arm64": ("ELF", "arm64"),
    "darwin-x64": ("Mach-O", "x64"),
    "darwin-arm64": ("Mach-O", "arm64"),
    "win32-x64": ("PE", "x64"),
    "win32-arm64": ("PE", "arm64"),
}
_ELF = {62: "x64", 183: "arm64"}
_MACH = {0x01000007: "x64", 0x0100000C: "arm64"}
_PE = {0x8664: "x64", 0xAA64: "arm64"}


def check_packages(node: Path) -> None:
    """Pack the extension for every platform, and check each package.

    Raises:
        AssertionError: something is missing in one, or for another machine.
        subprocess.CalledProcessError: one cannot be packed.
    """
    for platform in [*PLATFORMS, UNIVERSAL]:
        count = check_contents(pack(node, platform), platform)
        print(f"passed packages: {platform}, {count} compiled files, all of that machine", flush=True)


def check_contents(package: Path, platform: str) -> int:
    """Check the contents of a package; return its number of compiled files.

    Raises:
        AssertionError: something is missing, or for another machine.
    """
    with zipfile.ZipFile(package) as archive:
        names = [name.removeprefix("extension/") for name in archive.namelist()]
        expected = ["dist/extension.js", "python/serve.py", "bundled/requirements.txt", "bundled/all/fxlsp/__init__.py"]
        missing = set(expected) - set(names)
        assert not missing, f"{package.name} lacks {missing}"
        foreign = [name for name in names if name.startswith(("test/", "src/", "node_modules/", "bundled/all/torch/"))]
        assert not foreign, f"{package.name} holds {foreign}"
        compiled = [name for name in names if name.endswith((".so", ".pyd", ".dylib"))]
        if platform == UNIVERSAL:
            assert not compiled, f"{package.name} holds {compiled}"
            return 0
        for python in pythons():
            tag = f"cp{python.replace('.', '')}"
            assert any(name.startswith(f"bundled/{tag}/") for name in compiled), f"{package.name}: nothing for {tag}"
        kind, machine = _MACHINES[platform]
        for name in compiled:
            found = machines(archive.read(f"extension/{name}"))
            assert (kind, machine) in found, f"{package.name}: {name} is for {found}"
        target = archive.read("extension.vsixmanifest").decode()
        assert f'TargetPlatform="{platform}"' in target, target
        return len(compiled)


def machines(library: bytes) -> list[tuple[str, str]]:
    """Return the formats and processors that a compiled file is for."""
    if library.startswith(b"\x7fELF"):
        return [("ELF", _ELF[struct.unpack_from("<H", library, 18)[0]])]
    if library.startswith(b"\xcf\xfa\xed\xfe"):
        return [("Mach-O", _MACH[struct.unpack_from("<I", library, 4)[0]])]
    if library.startswith(b"\xca\xfe\xba\xbe"):
        (count,) = struct.unpack_from(">I", library, 4)
        return [("Mach-O", _MACH[struct.unpack_from(">I", library, 8 + 20 * index)[0]]) for index in range(count)]
    if library.startswith(b"MZ"):
        (start,) = struct.unpack_from("<I", library, 0x3C)
        return [("PE", _PE[struct.unpack_from("<H", library, start + 4)[0]])]
    raise AssertionError(f"no library: {library[:16]!r}")


async def check_bundled_server(package: Path, model: str) -> None:
    """Start the server of a package under each CPython, and have it read a model.

    Raises:
        asyncio.TimeoutError: it does not answer.
    """
    with tempfile.TemporaryDirectory() as temporary:
        with zipfile.ZipFile(package) as archive:
            archive.extractall(temporary)
        folder = Path(temporary) / "workspace"
        folder.mkdir()
        (folder / "net.py").write_text(model, encoding="utf-8")
        serve = Path(temporary) / "extension" / "python" / "serve.py"
        missing = []
        for python in pythons():
            base = find(python)
            if base is None:
                missing.append(python)
                continue
            await asyncio.wait_for(_answers([base, "-I", str(serve)], folder), 120)
            print(f"passed packages: the bundled server answers under CPython {python}", flush=True)
        if missing:
            print(f"The bundled server is not tested: no CPython {', '.join(missing)} is here.", file=sys.stderr)


async def _answers(command: list[str], folder: Path) -> None:
    async with editor(folder, command=command, trusted=False) as opened:
        uri = opened.open(folder / "net.py")

        async def title() -> str | None:
            titles = [lens["command"]["title"] for lens in await opened.lenses(uri)]
            return next((each for each in titles if "trust" in each), None)

        await opened.until(title)
