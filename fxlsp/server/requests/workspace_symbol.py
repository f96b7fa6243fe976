"""``workspace/symbol`` and ``workspaceSymbol/resolve``.

They find model classes, and modules by their paths.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from lsprotocol import types

from fxlsp.engine.running.file_cache import FileCache
from fxlsp.ide.navigation.workspace_symbols import WorkspaceSymbol, class_target, workspace_symbols
from fxlsp.ide.trace_view.in_trace import NavigationTarget
from fxlsp.server.requests.document_symbol import KINDS
from fxlsp.server.shared.server import Server
from fxlsp.server.shared.target_locations import TargetLocations, load_target_locations
from fxlsp.source.text.documents import uri_of_path


def register(server: Server) -> None:
    @server.feature(types.WORKSPACE_SYMBOL)
    async def workspace_symbol(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        snapshot = server.engine.snapshot
        found = workspace_symbols(snapshot, params.query)
        # A class is located by reading and parsing its file: editors that resolve locations get the list sooner.
        lookups = [] if server.support.resolves_symbol_places else [each for each in found if each.target is None]
        targets = await _class_targets(server.disk, lookups)
        known = [targets.get((each.path, each.name), each.target) for each in found]
        paths = {each.path for each in known if each is not None}
        locations = await load_target_locations(snapshot, server.disk, paths, server.encoding)
        made = [_symbol(server, each, target, locations) for each, target in zip(found, known, strict=True)]
        return [symbol for symbol in made if symbol is not None]

    @server.feature(types.WORKSPACE_SYMBOL_RESOLVE)
    async def resolve(symbol: types.WorkspaceSymbol) -> types.WorkspaceSymbol:
        if isinstance(symbol.location, types.Location):
            return symbol
        path = server.path_of(symbol.location.uri)
        snapshot = server.engine.snapshot
        document = snapshot.documents.get(path) or await asyncio.to_thread(server.disk.read, path)
        target = None if document is None else class_target(document, symbol.name)
        locations = await load_target_locations(snapshot, server.disk, [path], server.encoding)
        location = None if target is None else locations.location(target)
        # The start of the file, if the class was removed meanwhile.
        start = types.Position(line=0, character=0)
        symbol.location = location or types.Location(symbol.location.uri, types.Range(start=start, end=start))
        return symbol


def _symbol(
    server: Server, found: WorkspaceSymbol, target: NavigationTarget | None, locations: TargetLocations
) -> types.WorkspaceSymbol | None:
    """Return a symbol with its location; None if it has none.

    Editors that resolve locations get the file alone where the location is not known yet.
    """
    location: types.Location | types.LocationUriOnly | None = None
    if target is not None:
        location = locations.location(target)
    elif server.support.resolves_symbol_places:
        location = types.LocationUriOnly(uri=uri_of_path(found.path))
    if location is None:
        return None
    return types.WorkspaceSymbol(
        name=found.name, kind=KINDS[found.kind], location=location, container_name=found.container or None
    )


async def _class_targets(
    disk: FileCache, classes: Sequence[WorkspaceSymbol]
) -> dict[tuple[str, str], NavigationTarget]:
    return await asyncio.to_thread(_look_for, disk, classes) if classes else {}


def _look_for(disk: FileCache, classes: Sequence[WorkspaceSymbol]) -> dict[tuple[str, str], NavigationTarget]:
    """Return the target of each of these classes that is still in its file."""
    targets: dict[tuple[str, str], NavigationTarget] = {}
    for each in classes:
        document = disk.read(each.path)
        target = None if document is None else class_target(document, each.name)
        if target is not None:
            targets[each.path, each.name] = target
    return targets
