"""The call hierarchy: its preparation, incoming and outgoing calls.

``textDocument/prepareCallHierarchy``, ``callHierarchy/incomingCalls`` and ``callHierarchy/outgoingCalls``.
"""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.navigation.call_hierarchy import HierarchyItem, Reference, incoming, outgoing, prepare
from fxlsp.server.shared.server import Server
from fxlsp.server.shared.target_locations import TargetLocations, load_target_locations

_KINDS = {"forward": types.SymbolKind.Method, "module": types.SymbolKind.Field}


def register(server: Server) -> None:
    """Register the call hierarchy, for editors that show it."""

    @server.feature(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    async def on_prepare(params: types.CallHierarchyPrepareParams) -> list[types.CallHierarchyItem] | None:
        snapshot, text_document = server.find_text_document(params.text_document.uri)
        if text_document is None:
            return None
        line, column = text_document.place(params.position)
        server.engine.set_cursor(text_document.path, line)
        found = prepare(snapshot, text_document.path, line, column)
        locations = await _locations(server, snapshot, found)
        items = [_item(each, locations) for each in found]
        return [item for item in items if item is not None] or None

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    async def on_incoming(params: types.CallHierarchyIncomingCallsParams) -> list[types.CallHierarchyIncomingCall]:
        snapshot, reference = server.engine.snapshot, Reference.from_json(params.item.data)
        found = incoming(snapshot, reference)
        locations = await _locations(server, snapshot, [each.item for each in found])
        return [
            types.CallHierarchyIncomingCall(item, locations.ranges(each.item.target.path, each.places, item.uri))
            for each in found
            if (item := _item(each.item, locations)) is not None
        ]

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    async def on_outgoing(params: types.CallHierarchyOutgoingCallsParams) -> list[types.CallHierarchyOutgoingCall]:
        snapshot, reference = server.engine.snapshot, Reference.from_json(params.item.data)
        found = outgoing(snapshot, reference)
        locations = await _locations(server, snapshot, [each.item for each in found], reference.path)
        return [
            # The ranges are in the file of the item, which for a module may differ from the file of its calls.
            types.CallHierarchyOutgoingCall(item, locations.ranges(reference.path, each.places, params.item.uri))
            for each in found
            if (item := _item(each.item, locations)) is not None
        ]


async def _locations(
    server: Server, snapshot: Snapshot, items: Sequence[HierarchyItem], *paths: str
) -> TargetLocations:
    return await load_target_locations(
        snapshot, server.disk, {*(item.target.path for item in items), *paths}, server.encoding
    )


def _item(item: HierarchyItem, locations: TargetLocations) -> types.CallHierarchyItem | None:
    location = locations.location(item.target)
    if location is None:
        return None
    return types.CallHierarchyItem(
        name=item.name,
        kind=_KINDS[item.kind],
        uri=location.uri,
        range=locations.extent(item.target) or location.range,
        selection_range=location.range,
        detail=item.detail,
        data=item.reference.to_json(),
    )
