"""What is said where a command has no result."""

from __future__ import annotations

import json
import sys

from fxlsp.cli.exit_codes import COULD_NOT_RUN
from fxlsp.cli.output.excerpts import place
from fxlsp.report.problems import Failure


def tell_failure(failure: Failure, form: str) -> int:
    """One message on standard error, with ``form`` "json" the failure object on standard output; the exit code."""
    if form == "json":
        sys.stdout.write(json.dumps(failure.to_json()) + "\n")
    where = f"{place(failure.location)}: " if failure.location is not None else ""
    sys.stderr.write(f"fxlsp: {where}{failure.code} {failure.message}\n")
    return COULD_NOT_RUN
