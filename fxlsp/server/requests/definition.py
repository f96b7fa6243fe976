"""``textDocument/definition`` and ``implementation`` of a module call."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from fxlsp.ide.navigation.definitions import definition, implementation, unknown_to_python
from fxlsp.ide.trace_view.in_trace import NavigationTarget
from fxlsp.server.shared.server import Server
from fxlsp.server.shared.target_locations import TargetLocations, load_target_locations
from fxlsp.server.shared.text_documents import TextDocument
from fxlsp.source.text.positions import Span

Places = list[types.Location] | list[types.LocationLink] | None


def register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def on_definition(params: types.DefinitionParams) -> Places:
        snapshot, text_document = server.find_text_document(params.text_document.uri)
        if text_document is None:
            return None
        line, column = text_document.place(params.position)
        server.engine.set_cursor(text_document.path, line)
        found = definition(snapshot, text_document.path, line, column)
        if found is None:
            return None
        paths = {target.path for target in (*found.forwards, *found.registrations)}
        locations = await load_target_locations(snapshot, server.disk, paths, server.encoding)
        targets = (*found.forwards, *unknown_to_python(found, text_document.document, locations.document))
        return _places(text_document, found.name, targets, locations, server.support.definition_links)

    @server.feature(types.TEXT_DOCUMENT_IMPLEMENTATION)
    async def on_implementation(params: types.ImplementationParams) -> Places:
        snapshot, text_document = server.find_text_document(params.text_document.uri)
        if text_document is None:
            return None
        line, column = text_document.place(params.position)
        server.engine.set_cursor(text_document.path, line)
        found = implementation(snapshot, text_document.path, line, column)
        if found is None:
            return None
        locations = await load_target_locations(
            snapshot, server.disk, {target.path for target in found.forwards}, server.encoding
        )
        return _places(text_document, found.name, found.forwards, locations, server.support.implementation_links)


def _places(
    text_document: TextDocument,
    name: Span,
    targets: Sequence[NavigationTarget],
    locations: TargetLocations,
    links: bool,
) -> Places:
    """Return the targets as links, or as locations for editors without links.

    Links contain the range of the name at the cursor.
    """
    found = [(target, locations.location(target)) for target in targets]
    known = [(target, location) for target, location in found if location is not None]
    if not known:
        return None
    if not links:
        return [location for _, location in known]
    origin = text_document.range(name)
    return [
        types.LocationLink(
            origin_selection_range=origin,
            target_uri=location.uri,
            target_range=locations.extent(target) or location.range,
            target_selection_range=location.range,
        )
        for target, location in known
    ]
