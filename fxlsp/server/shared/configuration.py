"""The editor's settings.

Initialization options are overlaid with ``workspace/configuration``, key by key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from fxlsp.engine.state.folders import ClientSettings
from fxlsp.engine.storage.trusted_folders import TrustedFolders
from fxlsp.server.shared.server import Server
from fxlsp.source.text.documents import path_of_uri

SECTION = "fxlsp"
_TRUST = "FXLSP_TRUST"


class Configuration:
    """Settings that the editor has sent so far."""

    def __init__(self, server: Server, options: Mapping[str, Any]) -> None:
        self._server = server
        self._options = {key: value for key, value in options.items() if key != "interpreter"}
        self._interpreter = options.get("interpreter")
        self.client = self._overlaid({})
        """For the engine: the options, overlaid with the settings."""

    async def read(self) -> None:
        """Request the editor's settings, if it supports that, and apply them."""
        if await self._request():
            self._server.engine.configure(self.client)

    async def update_folders(self) -> None:
        """Apply the present workspace folders, after reading the settings of each.

        The settings come first: nothing must be traced by an interpreter that the settings of a folder replace.
        """
        await self._request()
        folders = [path_of_uri(folder.uri) for folder in self._server.workspace.folders.values()]
        self._server.engine.configure(self.client, folders)

    def apply(self, settings: object) -> None:
        """Apply the settings that the editor sent."""
        if self._store(settings, {}):
            self._server.engine.configure(self.client)

    async def _request(self) -> bool:
        """Request the settings; return whether there is an answer."""
        if not self._server.support.configuration:
            return False
        uris = [folder.uri for folder in self._server.workspace.folders.values()]
        items = [types.ConfigurationItem(scope_uri=uri, section=SECTION) for uri in (None, *uris)]
        try:
            answers = await self._server.workspace_configuration_async(types.ConfigurationParams(items=items))
        except JsonRpcException:
            return False
        return bool(answers) and self._store(answers[0], dict(zip(uris, answers[1:], strict=False)))

    def _store(self, settings: object, of_folders: Mapping[str, object]) -> bool:
        if not isinstance(settings, Mapping):
            return False
        folders = {
            path_of_uri(uri): self._overlaid(each) for uri, each in of_folders.items() if isinstance(each, Mapping)
        }
        self.client = replace(self._overlaid(settings), folders=folders)
        return True

    def _overlaid(self, settings: Mapping[str, Any]) -> ClientSettings:
        given = merged(self._options, settings)
        python = given.pop("interpreter", self._interpreter)
        return ClientSettings(given, python if isinstance(python, str) else None)


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``over`` on ``under``, key by key, in tables too; null is unset."""
    found = dict(under)
    for key, value in over.items():
        before = found.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            found[key] = merged(before, value)
        elif value is not None:
            found[key] = value
    return found


def register(server: Server, configuration: Configuration) -> None:
    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        if server.support.configuration:
            await configuration.read()
        elif isinstance(params.settings, Mapping):
            configuration.apply(params.settings.get(SECTION))


def options_of(params: types.InitializeParams) -> Mapping[str, Any]:
    """Return the initialization options, if they are an object, else an empty one."""
    options = params.initialization_options
    return options if isinstance(options, Mapping) else {}


def is_trusted(options: Mapping[str, Any]) -> bool:
    """Return whether the workspace is trusted at start.

    Trust is given by the editor, or by the environment of the server.
    """
    return options.get("trusted") is True or os.environ.get(_TRUST) == "1"


def trusted_folders(options: Mapping[str, Any]) -> frozenset[str]:
    """Return the folders that the user trusted in earlier sessions.

    None where the editor decides that by itself, as VS Code does, or the environment rules it out.
    """
    is_decided = isinstance(options.get("trusted"), bool) or _TRUST in os.environ
    return frozenset() if is_decided else TrustedFolders().read()
