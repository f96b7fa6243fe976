"""``initialize``, ``initialized`` and workspace folders: the start of a session."""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from fxlsp.engine.running.engine import Engine, SnapshotChange
from fxlsp.ide.trace_view.report_index import drop_replaced
from fxlsp.server.editor_watch import watch_editor
from fxlsp.server.log import SnapshotLogger, log, log_to_editor
from fxlsp.server.publish import diagnostics
from fxlsp.server.publish.diagnostics import Diagnostics
from fxlsp.server.publish.progress import Progress
from fxlsp.server.publish.refresh import Refresher
from fxlsp.server.publish.status import StatusFeed
from fxlsp.server.publish.workspace_diagnostics import SettingDiagnostics, WorkspaceDiagnostics
from fxlsp.server.requests import call_hierarchy, diagnostic_pull
from fxlsp.server.shared import configuration
from fxlsp.server.shared.configuration import Configuration
from fxlsp.server.shared.server import Server
from fxlsp.server.sync import watched_files
from fxlsp.server.typing.steady_hints import SteadyHints
from fxlsp.source.text.documents import path_of_uri


def register(server: Server) -> None:
    """Register ``initialize``, which registers everything that depends on the editor."""

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        if server.has_session:
            # JupyterLab has one server for all its pages, and each of them initializes it: the session continues.
            log.info("another page of the editor has begun")
            return
        options = configuration.options_of(params)
        settings = Configuration(server, options)
        log_to_editor(server)
        log.info("fxlsp %s", server.version)
        trusted, stored = configuration.is_trusted(options), configuration.trusted_folders(options)
        engine = Engine(_folders(params), settings.client, trusted=trusted, trusted_folders=stored)
        server.start_session(params, engine)
        watch_editor(params.process_id)
        configuration.register(server, settings)
        _register_session(server, settings)
        _connect(server)


def _register_session(server: Server, settings: Configuration) -> None:
    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        await _register_dynamically(server)
        await settings.read()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def did_change_folders(_: types.DidChangeWorkspaceFoldersParams) -> None:
        await settings.update_folders()


def _connect(server: Server) -> None:
    """Subscribe all publishers of the server to changes of the session."""
    refresher, progress, announcer = Refresher(server), Progress(server), SnapshotLogger(server)
    typing, feed, status = server.typing_state, server.problem_feed, StatusFeed(server)
    problems, of_settings = Diagnostics(server, refresher, feed), SettingDiagnostics(server, feed)
    of_workspace = WorkspaceDiagnostics(server, feed)
    # First: the publishers ask what may be shown. What is shown moves with an edit before the typing state follows it:
    # that may end the typing of another document, and have the problems of all documents published at once.
    server.engine.subscribe(_guarded(lambda change: feed.follow(change.edit)))
    server.engine.subscribe(_guarded(lambda change: typing.follow(server.engine.snapshot.documents, change.edit)))
    diagnostics.register_save(server, typing)
    if server.support.pulls_problems:
        diagnostic_pull.register(server, problems)
    if server.support.call_hierarchy:
        call_hierarchy.register(server)

    steady = SteadyHints(refresher.hints, typing)
    if server.support.hint_refresh:
        server.steady_hints = steady
        typing.subscribe(_guarded_call(steady.rested))
        server.engine.subscribe(_guarded(lambda change: steady.follow(server.engine.snapshot.documents, change.edit)))
    server.engine.subscribe(_guarded(server.related_texts.follow))
    server.engine.subscribe(_guarded(lambda _: drop_replaced(server.engine.snapshot)))
    publishers = (of_workspace.update, problems.update, of_settings.update)
    for listener in (refresher.update, *publishers, progress.update, announcer.update, status.update):
        server.engine.subscribe(_guarded(listener))
    for on_rest in (of_workspace.rested, problems.rested, of_settings.rested):
        typing.subscribe(_guarded_call(on_rest))
    for on_read in (of_workspace.rested, problems.rested):
        server.related_texts.subscribe(_guarded_call(on_read))


def _guarded_call(listener: Callable[[], None]) -> Callable[[], None]:
    guarded = _guarded(lambda _: listener())
    return lambda: guarded(SnapshotChange("session"))


def _guarded(listener: Callable[[SnapshotChange], None]) -> Callable[[SnapshotChange], None]:
    """Return a listener that logs exceptions instead of raising them.

    An error in a publisher must not stop the session, which calls its listeners in the middle of its work.
    """

    def guarded(change: SnapshotChange) -> None:
        try:
            listener(change)
        except Exception:
            log.exception("internal error in fxlsp: a change could not be sent to the editor")

    return guarded


def _folders(params: types.InitializeParams) -> list[str]:
    """Return the workspace folders, or the one root folder of an older editor."""
    if params.workspace_folders:
        return [path_of_uri(folder.uri) for folder in params.workspace_folders]
    if params.root_uri is not None:
        return [path_of_uri(params.root_uri)]
    return [params.root_path] if params.root_path else []


async def _register_dynamically(server: Server) -> None:
    """Request the notifications that the editor sends only on request."""
    registrations: list[types.Registration] = []
    if server.support.watches_configuration:
        method = types.WORKSPACE_DID_CHANGE_CONFIGURATION
        options = {"section": configuration.SECTION}
        registrations.append(types.Registration(id=method, method=method, register_options=options))
    if server.support.watches_files:
        registrations.append(watched_files.registration())
    if registrations:
        try:
            await server.client_register_capability_async(types.RegistrationParams(registrations=registrations))
        except JsonRpcException as error:
            log.warning("the editor refuses to tell about changes: %s", error)
