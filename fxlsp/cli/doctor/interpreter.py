"""The interpreter that would trace: which one, why that, and whether it can."""

from __future__ import annotations

from fxlsp.cli.doctor.finding import Finding
from fxlsp.cli.doctor.interpreter_probe import Probe, ProbeError, probe
from fxlsp.engine.settings.interpreters import OLDEST_PYTHON, Interpreter, InterpreterError, choose_interpreter

_CHOOSE = "name the interpreter of your project: 'python' in [tool.fxlsp] or in the editor's settings, or --python"


def find_interpreter(folder: str, setting: str | None) -> tuple[Interpreter | None, Probe | None, Finding]:
    """The interpreter of a folder and what it says of itself; None where there is none, or none that could trace."""
    try:
        interpreter = choose_interpreter(folder, setting)
    except InterpreterError as error:
        return None, None, Finding("interpreter", "error", str(error), advice=_CHOOSE)
    try:
        said = probe(interpreter.path)
    except ProbeError as error:
        message = f"{interpreter.describe()}: {error}"
        return interpreter, None, Finding("interpreter", "error", message, advice=f"mend it, or {_CHOOSE}")
    message = f"{interpreter.describe()}: Python {said.python}"
    if said.version < OLDEST_PYTHON:
        message += f", and fxlsp traces with {'.'.join(map(str, OLDEST_PYTHON))} or later"
        return interpreter, None, Finding("interpreter", "error", message, advice=_CHOOSE)
    return interpreter, said, Finding("interpreter", "ok", message)


def installed(said: Probe) -> Finding:
    """What there is to import. Whether it serves is known once it is imported."""
    versions = ", ".join(f"{name} {version}" for name, version in said.packages.items())
    return Finding("packages", "ok", versions or "neither torch nor one that builds on it is installed")


def torch_advice(interpreter: Interpreter, said: Probe) -> str:
    """What to do about an interpreter that cannot trace."""
    upgrade = " --upgrade" if "torch" in said.packages else ""
    install = f"'{interpreter.path}' -m pip install{upgrade} torch"
    if interpreter.origin == "server":
        return f"make a virtual environment .venv with torch in the folder, or {_CHOOSE}; or {install}"
    return f"{install}; or {_CHOOSE}"


def forking(said: Probe) -> Finding:
    """How traces run."""
    if said.fork:
        message = f"processes cannot be forked ({said.fork}): whether traces run all the same, the first one says"
        return Finding("processes", "warning", message)
    return Finding("processes", "ok", "fork works: each trace runs in a fork of a process that has imported torch")
