"""``fxlsp serve``: the language server."""

from __future__ import annotations

import argparse
from typing import Any


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("serve", help="run the language server")
    transport = parser.add_mutually_exclusive_group()
    transport.add_argument("--stdio", action="store_true", help="speak over standard input and output (the default)")
    transport.add_argument("--tcp", metavar="HOST:PORT", type=_address, help="wait for one client there")
    transport.add_argument("--ws", metavar="HOST:PORT", type=_address, help="the same over a web socket")
    # Editors name their own process on the command line too; the server reads it from `initialize`.
    parser.add_argument("--clientProcessId", type=int, help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    # Imported here: the protocol's packages take longer to import than everything that the other commands need.
    from fxlsp.server.main import serve_stdio, serve_tcp, serve_websocket

    if arguments.tcp is not None:
        return serve_tcp(*arguments.tcp)
    if arguments.ws is not None:
        return serve_websocket(*arguments.ws)
    return serve_stdio()


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"'{text}' is not HOST:PORT")
    return host.strip("[]") or "localhost", int(port)
