"""The entry point: parses the command line and returns an exit code."""

from __future__ import annotations

import argparse
import io
import logging
import os
import sys
from collections.abc import Sequence

from fxlsp import __version__
from fxlsp.cli import graph, serve, summary, trace, trust
from fxlsp.cli.check import command as check
from fxlsp.cli.doctor import command as doctor
from fxlsp.cli.exit_codes import COULD_NOT_RUN, UsageError
from fxlsp.cli.record import command as record

_INTERRUPTED = 130
"""The code that a shell reports for a program that ended at Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code.

    An error of the user is one message on standard error.

    Args:
        arguments: without the program's name; by default those of the process.

    Example:
        >>> main(["trace", "model.py:Net", "--format", "json"])  # doctest: +SKIP
        0
    """
    parsed = _parser().parse_args(arguments)
    _set_up_streams(parsed.verbose)
    try:
        code: int = parsed.run(parsed)
        sys.stdout.flush()
    except UsageError as error:
        sys.stderr.write(f"fxlsp: {error}\n")
        return COULD_NOT_RUN
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has ended, as `head` does; the interpreter's last flush must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return COULD_NOT_RUN
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fxlsp", description="What torch.fx makes of PyTorch models.")
    parser.add_argument("--version", action="version", version=f"fxlsp {__version__}")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="log to standard error; twice for more")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    serve.add_parser(commands)
    trace.add_parser(commands)
    summary.add_parser(commands)
    graph.add_parser(commands)
    check.add_parser(commands)
    record.add_parser(commands)
    doctor.add_parser(commands)
    trust.add_parser(commands)
    return parser


def _set_up_streams(verbosity: int) -> None:
    level = {0: logging.WARNING, 1: logging.INFO}.get(verbosity, logging.DEBUG)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    # pygls logs every message of the protocol: only fxlsp's loggers follow the option.
    logging.getLogger("fxlsp").setLevel(level)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
