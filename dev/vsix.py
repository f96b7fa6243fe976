"""Packs the VS Code extension with the server in it, into ``dist/``.

``python -m dev.vsix [PLATFORM ...]``: a platform (``linux-x64``, ``darwin-arm64``, ...) gets the compiled dependencies
of every CPython that pyproject.toml names; ``universal`` gets none: there the extension creates an environment of its
own, once the user agrees. ``all`` are these and that one; without a platform it is this machine's. torch is never
packed: models are traced with the project's own.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from email import message_from_bytes
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from dev.editors.vscode.extension import build, install_packages
from dev.editors.vscode.tools import EXTENSION, node
from dev.environment import PROJECT
from dev.matrix import claimed

BUNDLED = EXTENSION / "bundled"
ALL = BUNDLED / "all"
UNIVERSAL = "universal"

PLATFORMS: Mapping[str, tuple[str, ...]] = {
    "linux-x64": ("manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64"),
    "linux-arm64": ("manylinux2014_aarch64", "manylinux_2_17_aarch64", "manylinux_2_28_aarch64"),
    "darwin-x64": ("macosx_10_9_x86_64", "macosx_11_0_x86_64", "macosx_10_13_x86_64"),
    "darwin-arm64": ("macosx_11_0_arm64",),
    "win32-x64": ("win_amd64",),
    "win32-arm64": ("win_arm64",),
}
"""VS Code's name of a platform, and pip's."""
HERE = "linux-x64"
"""This machine's: :func:`dev.editors.vscode.tools.node` supports no other."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m dev.vsix", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("platform", nargs="*", choices=[*PLATFORMS, UNIVERSAL, "all", []])
    platforms = parser.parse_args().platform or [HERE]
    found = node()
    build(found)
    for platform in [*PLATFORMS, UNIVERSAL] if "all" in platforms else platforms:
        print(pack(found, platform), flush=True)
    return 0


def pack(node: Path, platform: str) -> Path:
    """Pack the extension for one platform; return the path of the ``.vsix``.

    Raises:
        subprocess.CalledProcessError: a wheel is missing, or the packer fails; it has printed the reason.
    """
    bundle(platform)
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(PROJECT / name, EXTENSION / name)  # where the packer expects them
    package = packed(platform)
    package.parent.mkdir(exist_ok=True)
    install_packages(node)
    target = [] if platform == UNIVERSAL else ["--target", platform]
    packer = [str(node), "node_modules/@vscode/vsce/vsce", "package", "--no-dependencies", *target]
    # The packer would rewrite images and links of the readme to the address of a repository, which it does not have.
    packer += ["--allow-missing-repository", "--no-rewrite-relative-links", "--out", str(package)]
    subprocess.run(packer, cwd=EXTENSION, check=True, stdout=sys.stderr)
    return package


def packed(platform: str) -> Path:
    """Return the path of a platform's package, once it is packed."""
    return PROJECT / "dist" / f"fxlsp-{platform}.vsix"


def bundle(platform: str) -> None:
    """Fill ``bundled/``.

    It contains fxlsp and pure Python dependencies once, and compiled ones for each CPython.
    """
    shutil.rmtree(BUNDLED, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(PROJECT / "fxlsp", ALL / "fxlsp", ignore=ignored)
    (BUNDLED / "requirements.txt").write_text("".join(f"{each}\n" for each in dependencies()), encoding="utf-8")
    if platform == UNIVERSAL:
        return
    with tempfile.TemporaryDirectory() as temporary:
        found = {python: _downloaded(python, PLATFORMS[platform], Path(temporary) / python) for python in pythons()}
        kinds: dict[str, set[str]] = defaultdict(set)
        for wheel in chain.from_iterable(found.values()):
            kinds[_project(wheel)].add(wheel.name)
        for python, wheels in found.items():
            for wheel in wheels:
                serves_all = len(kinds[_project(wheel)]) == 1
                _unpack(wheel, ALL if serves_all else BUNDLED / f"cp{python.replace('.', '')}")


def pythons() -> Iterator[str]:
    """Yield the versions of Python that pyproject.toml names."""
    oldest, newest = claimed(PROJECT / "pyproject.toml")
    first, last = (int(each.python.split(".")[1]) for each in (oldest, newest))
    yield from (f"3.{minor}" for minor in range(first, last + 1))


def dependencies() -> list[str]:
    """Return the server's own dependencies, as pyproject.toml states them."""
    with open(PROJECT / "pyproject.toml", "rb") as file:
        return [str(each) for each in tomllib.load(file)["project"]["dependencies"]]


def _downloaded(python: str, platforms: tuple[str, ...], folder: Path) -> list[Path]:
    """Return the wheels of all dependencies, direct or not, for one version of Python."""
    options = ["--only-binary=:all:", "--no-deps", "--implementation", "cp", "--python-version", python]
    options += [option for platform in platforms for option in ("--platform", platform)]
    command = [sys.executable, "-m", "pip", "download", "-qq", "--disable-pip-version-check", "--dest", str(folder)]
    wheels: dict[str, Path] = {}
    wanted = dependencies()
    # Level by level, with the markers evaluated here: pip evaluates them for the Python that runs it.
    while missing := [each for each in map(Requirement, wanted) if _counts(each, python, wheels)]:
        for requirement in missing:
            requirement.marker = None
        subprocess.run([*command, *options, *map(str, missing)], check=True, stdout=sys.stderr)
        wheels = {_project(wheel): wheel for wheel in sorted(folder.glob("*.whl"))}
        wanted = [each for wheel in wheels.values() for each in _requirements(wheel)]
    return list(wheels.values())


def _counts(requirement: Requirement, python: str, known: Container[str]) -> bool:
    """Return whether a package is needed under that Python, and not downloaded yet."""
    environment = {"python_version": python, "python_full_version": f"{python}.0", "extra": ""}
    needed = requirement.marker is None or requirement.marker.evaluate(environment)
    return needed and canonicalize_name(requirement.name) not in known


def _project(wheel: Path) -> str:
    return canonicalize_name(wheel.name.partition("-")[0])


def _requirements(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(metadata)).get_all("Requires-Dist") or []


def _unpack(wheel: Path, folder: Path) -> None:
    """Extract a wheel, its licences included; no scripts are generated."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)


if __name__ == "__main__":
    sys.exit(main())
