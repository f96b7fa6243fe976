"""The interpreter that traces: which one, why that one, and whether it can trace.

It is asked by a program that does not import torch, which takes seconds, and may be what fails.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fxlsp.cli.doctor.finding import DoctorFinding
from fxlsp.engine.settings.interpreters import OLDEST_PYTHON, Interpreter, InterpreterError, choose_interpreter

_CHOOSE = "name the interpreter of your project: 'python' in [tool.fxlsp] or in the editor's settings, or --python"
_SECONDS = 30.0
_MAX_OUTPUT = 200
"""Characters of an error message that are shown."""
_PACKAGES = ("torch", "torchvision", "torchaudio", "timm", "transformers", "lightning", "numpy")
"""Packages whose versions help the readers of a bug report."""

# In syntax that any Python can run, the oldest too.
_PROGRAM = f"""
import json, os, platform
versions = {{}}
try:
    from importlib.metadata import version
    for name in {_PACKAGES!r}:
        try:
            versions[name] = version(name)
        except Exception:
            pass
except ImportError:
    pass
fork = "not known to this system"
if hasattr(os, "fork"):
    try:
        child = os.fork()
        if child == 0:
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        fork = "" if status == 0 else "the child ended with status %d" % status
    except OSError as error:
        fork = str(error)
print(json.dumps({{"python": platform.python_version(), "packages": versions, "fork": fork}}))
"""


@dataclass(frozen=True, slots=True)
class Probe:
    """Versions and abilities that an interpreter reports about itself."""

    python: str
    """``3.11.7``."""
    packages: Mapping[str, str]
    """Versions of those that are installed, by name."""
    fork: str
    """Why a process cannot be forked, "" if it can."""

    @property
    def version(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.python.split(".")[:2] if part.isdecimal())


class ProbeError(Exception):
    """An interpreter that does not run, or is not a Python; the message is the reason."""


def probe_interpreter(python: str) -> Probe:
    """Run an interpreter and return what it reports about itself.

    Raises:
        ProbeError: the program does not answer as a Python does.
    """
    try:
        ran = subprocess.run(
            # By standard input: a program that is not Python would show the text in its error message.
            [python, "-"],
            input=_PROGRAM,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
            # From the root: a file `json.py` of the working directory must not be imported.
            cwd=os.sep,
        )
    except OSError as error:
        raise ProbeError(f"it cannot be run: {error.strerror or error}") from error
    except subprocess.TimeoutExpired as error:
        raise ProbeError(f"it gave no answer within {_SECONDS:g} s") from error
    try:
        probed = json.loads(ran.stdout.splitlines()[-1])
        return Probe(probed["python"], probed["packages"], probed["fork"])
    except (ValueError, IndexError, KeyError, TypeError) as error:
        output = (ran.stderr.strip() or ran.stdout.strip()).splitlines()
        last = f": {output[-1][:_MAX_OUTPUT]}" if output else ""
        raise ProbeError(f"it runs no Python programs, and ended with exit code {ran.returncode}{last}") from error


def find_interpreter(
    folder: str, setting: str | None, *, may_run: bool = True
) -> tuple[Interpreter | None, Probe | None, DoctorFinding]:
    """Return the interpreter of a folder and its report about itself.

    Both are None where there is no interpreter, the report is None where it cannot trace or must not run.
    """
    try:
        interpreter = choose_interpreter(folder, setting)
    except InterpreterError as error:
        return None, None, DoctorFinding("interpreter", "error", str(error), advice=_CHOOSE)
    if not may_run:
        message = f"{interpreter.describe()}: not run, as --no-run asks"
        return interpreter, None, DoctorFinding("interpreter", "ok", message)
    try:
        probed = probe_interpreter(interpreter.path)
    except ProbeError as error:
        message = f"{interpreter.describe()}: {error}"
        return interpreter, None, DoctorFinding("interpreter", "error", message, advice=f"mend it, or {_CHOOSE}")
    message = f"{interpreter.describe()}: Python {probed.python}"
    if probed.version < OLDEST_PYTHON:
        message += f", and fxlsp traces with {'.'.join(map(str, OLDEST_PYTHON))} or later"
        return interpreter, None, DoctorFinding("interpreter", "error", message, advice=_CHOOSE)
    return interpreter, probed, DoctorFinding("interpreter", "ok", message, tuple(_own_programs(interpreter, folder)))


def _own_programs(interpreter: Interpreter, folder: str) -> Iterator[str]:
    """Yield a line if the interpreter is a file of the folder, which runs code of its own before any of fxlsp."""
    # Links are not resolved: the configuration of a virtual environment is where the link is.
    if os.path.abspath(interpreter.path).startswith(os.path.join(os.path.abspath(folder), "")):
        yield f"this command runs {interpreter.path}, which belongs to this folder, with what is installed there"
        yield "(in a folder that you do not trust: fxlsp doctor --no-run)"


def installed_packages(probed: Probe) -> DoctorFinding:
    """Return the versions of the installed packages.

    Whether they can be imported is known only after the import.
    """
    versions = ", ".join(f"{name} {version}" for name, version in probed.packages.items())
    return DoctorFinding("packages", "ok", versions or "neither torch nor one that builds on it is installed")


def torch_advice(interpreter: Interpreter, probed: Probe) -> str:
    """Return what to do about an interpreter that cannot trace."""
    upgrade = " --upgrade" if "torch" in probed.packages else ""
    install = f"'{interpreter.path}' -m pip install{upgrade} torch"
    if interpreter.origin == "server":
        return f"make a virtual environment .venv with torch in the folder, or {_CHOOSE}; or {install}"
    return f"{install}; or {_CHOOSE}"


def fork_support(probed: Probe) -> DoctorFinding:
    """Return how traces are run."""
    if probed.fork:
        message = f"processes cannot be forked ({probed.fork}): whether traces run all the same, the first one says"
        return DoctorFinding("processes", "warning", message)
    return DoctorFinding(
        "processes", "ok", "fork works: each trace runs in a fork of a process that has imported torch"
    )
