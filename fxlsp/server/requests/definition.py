"""``textDocument/definition`` and ``textDocument/implementation`` of a module call."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from fxlsp.ide.navigation.definitions import definition, implementation, unknown_to_python
from fxlsp.ide.trace_view.targets import NavigationTarget
from fxlsp.server.session.server import Server
from fxlsp.server.session.target_locations import Texts, read_texts
from fxlsp.server.session.text_documents import Sheet
from fxlsp.source.text.positions import Span

Places = list[types.Location] | list[types.LocationLink] | None


def register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def on_definition(params: types.DefinitionParams) -> Places:
        snapshot, sheet = server.open_sheet(params.text_document.uri)
        if sheet is None:
            return None
        line, column = sheet.place(params.position)
        server.engine.touch(sheet.path, line)
        found = definition(snapshot, sheet.path, line, column)
        if found is None:
            return None
        paths = {target.path for target in (*found.forwards, *found.registrations)}
        texts = await read_texts(snapshot, server.disk, paths, server.encoding)
        targets = (*found.forwards, *unknown_to_python(found, sheet.document, texts.of))
        return _places(sheet, found.name, targets, texts, server.support.definition_links)

    @server.feature(types.TEXT_DOCUMENT_IMPLEMENTATION)
    async def on_implementation(params: types.ImplementationParams) -> Places:
        snapshot, sheet = server.open_sheet(params.text_document.uri)
        if sheet is None:
            return None
        line, column = sheet.place(params.position)
        server.engine.touch(sheet.path, line)
        found = implementation(snapshot, sheet.path, line, column)
        if found is None:
            return None
        texts = await read_texts(snapshot, server.disk, {target.path for target in found.forwards}, server.encoding)
        return _places(sheet, found.name, found.forwards, texts, server.support.implementation_links)


def _places(sheet: Sheet, name: Span, targets: Sequence[NavigationTarget], texts: Texts, links: bool) -> Places:
    """The targets as links, which say what is underlined, or as locations for editors that know no links."""
    found = [(target, texts.location(target)) for target in targets]
    known = [(target, location) for target, location in found if location is not None]
    if not known:
        return None
    if not links:
        return [location for _, location in known]
    origin = sheet.range(name)
    return [
        types.LocationLink(
            origin_selection_range=origin,
            target_uri=location.uri,
            target_range=texts.extent(target) or location.range,
            target_selection_range=location.range,
        )
        for target, location in known
    ]
