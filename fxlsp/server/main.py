"""Creation of a server, and serving over a transport."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from typing import NoReturn

from fxlsp.server import lifecycle, transport
from fxlsp.server.commands import (
    ask_frontends,
    choose_recipe,
    graph,
    information,
    instances,
    record,
    trust_and_retrace,
)
from fxlsp.server.commands import copy as copying
from fxlsp.server.publish import progress
from fxlsp.server.requests import (
    code_action,
    code_lens,
    definition,
    document_symbol,
    hover,
    inlay_hint,
    workspace_symbol,
)
from fxlsp.server.shared.server import Server
from fxlsp.server.sync import notebook, watched_files
from fxlsp.server.sync import text as text_sync

_SWITCH_SECONDS = 0.0005
"""A tenth of CPython's default: while threads read and parse, the loop waits this long whenever it has work."""

_FEATURES = (
    *(
        lifecycle,
        text_sync,
        notebook,
        watched_files,
        trust_and_retrace,
        choose_recipe,
        instances,
        graph,
        ask_frontends,
        record,
        information,
        copying,
        progress,
    ),
    *(hover, code_lens, inlay_hint, document_symbol, code_action, definition, workspace_symbol),
)


def make_server() -> Server:
    """Return a server with every feature that does not depend on the editor."""
    server = Server()
    for feature in _FEATURES:
        feature.register(server)
    return server


def serve_stdio() -> NoReturn:
    """Serve one editor over standard input and output, then end the process."""
    _run(transport.over_stdio)


def serve_tcp(host: str, port: int) -> NoReturn:
    """Wait for one editor on a TCP port, serve it, then end the process."""
    _run(lambda server: transport.over_tcp(server, host, port))


def serve_websocket(host: str, port: int) -> NoReturn:
    """Wait for one editor on a web socket, serve it, then end the process."""
    _run(lambda server: transport.over_websocket(server, host, port))


def _run(serve: Callable[[Server], Awaitable[None]]) -> NoReturn:
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    # pygls warns of each cancelled request that has been answered already, and all requests here have.
    logging.getLogger("pygls").setLevel(logging.ERROR)
    sys.setswitchinterval(_SWITCH_SECONDS)
    exit_code = asyncio.run(_serve(serve))
    logging.shutdown()
    # Threads that wait for input or hang must not keep the process alive: sys.exit would join them.
    os._exit(exit_code)


async def _serve(serve: Callable[[Server], Awaitable[None]]) -> int:
    server = make_server()
    await serve(server)
    return server.exit_code
