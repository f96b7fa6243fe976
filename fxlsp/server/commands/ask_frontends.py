"""``fxlsp.askFrontends``: the verdicts of torch.export and torch.compile on a model.

It takes the URI of a document and the name of a model in it, ``Outer.Inner``; missing arguments are requested by
``window/showMessageRequest``. The answer is ``{"model", "frontends"}``, of each front end ``frontend``, ``verdict`` and
``summary`` as in ``fxlsp trace --format json``; null if there is no trace of the present text, or an edit has ended the
request. What they found are problems of the document.
"""

from __future__ import annotations

from typing import Any

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.model_status import states_of, status_text
from fxlsp.ide.trace_view.outline import factory_and_instance_names, outline
from fxlsp.report.frontends import FrontendVerdict
from fxlsp.server.commands.ask_user import resolve_model, show_info
from fxlsp.server.shared.command_names import ASK_FRONTENDS
from fxlsp.server.shared.server import Server

_NOTHING = "No model of this file has a trace yet."


def register(server: Server) -> None:
    @server.command(ASK_FRONTENDS)
    async def ask_frontends(*arguments: str) -> dict[str, Any] | None:
        place = await resolve_model(server, arguments, _names, "About which model?", _NOTHING)
        if place is None:
            return None
        path, name = place
        verdicts = await server.engine.ask_frontends(path, name)
        if verdicts is not None:
            return {"model": name, "frontends": [_to_json(each) for each in verdicts]}
        if server.has_session:
            text = status_text(server.engine.snapshot, path, name)
            show_info(server, f"torch.export and torch.compile were not asked about the present text of {name}: {text}")
        return None


def _to_json(verdict: FrontendVerdict) -> dict[str, Any]:
    return {"frontend": verdict.frontend, "verdict": verdict.verdict, "summary": verdict.summary}


def _names(snapshot: Snapshot, path: str) -> list[str]:
    names = [*(each.model.qualname for each in outline(snapshot, path)), *factory_and_instance_names(snapshot, path)]
    return [name for name in names if any(state.report is not None for state in states_of(snapshot, path, name))]
