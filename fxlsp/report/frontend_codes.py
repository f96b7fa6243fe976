"""Problem codes of torch.export (FX7) and torch.compile (FX8), told apart by what one does about them.

They are records as those of :mod:`.codes`, which has all.
"""

from __future__ import annotations

from .code_records import CodeRecord, record_of
from .frontends import OtherFrontend

RECORDS: dict[str, CodeRecord] = {}
"""The record of each of these codes."""


def _define(code: str, advice: str) -> str:
    RECORDS[code] = record_of(code, advice)
    return code


EXPORT_BRANCH = _define(
    "FX701", "Choose with an operation that the graph can hold: `torch.where`, or `torch.cond` for larger parts"
)
"""The value of a tensor decides which way Python goes, which torch.export does not know."""
EXPORT_NUMBER = _define(
    "FX702", "Leave the value a tensor, or tell torch what holds of the number: `torch._check(n <= x.shape[0])`"
)
"""The value of a tensor is needed where torch.export has to know a number."""
EXPORT_UNSUPPORTED = _define("FX703", "Pass, return and compute with what torch.export knows: tensors and numbers")
"""torch.export has no form for an operation, an argument or a result."""
EXPORT_FIXED = _define(
    "FX704",
    "Take a size from the tensor that has it, or leave it to torch: `x.view(x.shape[0], -1)` for `x.view(2, -1)`",
)
"""The code fixes a size that was to be dynamic, or limits it."""
EXPORT_DIED = _define("FX798", "Raise an exception instead of ending the process, or raise the limit that was reached")
"""The process that exported the model crashed, exited or was ended at a limit."""
EXPORT_FAILS = _define("FX799", "Repair what torch's message names")
"""torch.export raises here for any other reason."""

BREAK_AT_VALUE = _define(
    "FX801", "Leave the value a tensor, and choose with an operation: `torch.where`, or `torch.cond` for larger parts"
)
"""torch.compile ends a graph where Python needs the value of a tensor."""
BREAK_AT_CODE = _define(
    "FX802", "Move it out of `forward`, or leave it out with `if not torch.compiler.is_compiling()`"
)
"""torch.compile ends a graph at code that it cannot follow."""
COMPILE_DIED = _define("FX898", "Raise an exception instead of ending the process, or raise the limit that was reached")
"""The process that compiled the model crashed, exited or was ended at a limit."""
COMPILE_FAILS = _define("FX899", "Repair what torch's message names")
"""The compiled model raises here."""


def died_code(frontend: OtherFrontend) -> str:
    """Return the code of the problem that a front end's process ended before its verdict."""
    return EXPORT_DIED if frontend == "export" else COMPILE_DIED


def frontend_of(code: str) -> OtherFrontend | None:
    """Return the front end that has a problem code, or all codes that begin so; None for those of torch.fx."""
    families: dict[str, OtherFrontend] = {"FX7": "export", "FX8": "compile"}
    return families.get(code[:3])
