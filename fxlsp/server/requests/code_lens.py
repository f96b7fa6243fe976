"""``textDocument/codeLens`` and ``codeLens/resolve``.

A lens comes with its text: the text is known already, and an editor that had to request it would show a gap
meanwhile. Resolving brings an old lens up to date.
"""

from __future__ import annotations

from lsprotocol import types

from fxlsp.ide.lenses import Action, Lens, lenses
from fxlsp.server.shared.command_names import CHOOSE_INSTANCE, CHOOSE_RECIPE, RETRACE, SHOW_GRAPH, TRUST
from fxlsp.server.shared.server import Server

_COMMANDS: dict[Action, str] = {
    "retrace": RETRACE,
    "trust": TRUST,
    "choose": CHOOSE_RECIPE,
    "instance": CHOOSE_INSTANCE,
    "graph": SHOW_GRAPH,
}


def register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def code_lens(params: types.CodeLensParams) -> list[types.CodeLens]:
        snapshot, text_document = server.find_text_document(params.text_document.uri)
        if text_document is None:
            return []
        return [
            types.CodeLens(
                range=text_document.range(lens.span),
                command=_command(lens, text_document.uri),
                data={"uri": text_document.uri, "name": lens.name, "place": lens.kind},
            )
            for lens in lenses(snapshot, text_document.path)
            if text_document.shows(lens.span.line)
        ]

    @server.feature(types.CODE_LENS_RESOLVE)
    def resolve(lens: types.CodeLens) -> types.CodeLens:
        data = lens.data if isinstance(lens.data, dict) else {}
        snapshot, text_document = server.find_text_document(str(data.get("uri", "")))
        for present in lenses(snapshot, text_document.path) if text_document is not None else ():
            if (present.name, present.kind) == (data.get("name"), data.get("place")):
                lens.command = _command(present, str(data["uri"]))
        # In some editors a lens without a command is never resolved.
        lens.command = lens.command or types.Command(title="not traced yet", command="")
        return lens


def _command(lens: Lens, uri: str) -> types.Command:
    about_the_model = lens.action in ("choose", "instance", "graph")
    arguments = [uri, lens.name] if about_the_model else [uri]
    return types.Command(title=lens.text, command=_COMMANDS[lens.action], arguments=arguments)
