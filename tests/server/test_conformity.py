"""Answers fit what real editors say they support: pytest-lsp warns where one does not, and a warning is an error."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.capabilities import get_capability
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from tests.support.waiting import PATIENCE

NET = """\
import torch
from torch import nn


# fxlsp: Net()(torch.randn(2, 3))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module("flat", nn.Flatten())
        self.fc = nn.Linear(5, 4)

    def forward(self, x):
        x = self.flat(x)
        return self.fc(x)
"""

ASKED_OF_THE_EDITOR = (
    types.CLIENT_REGISTER_CAPABILITY,
    types.WORKSPACE_CODE_LENS_REFRESH,
    types.WORKSPACE_INLAY_HINT_REFRESH,
)
"""What every editor does and pytest-lsp's client does not."""

SERVER = ClientServerConfig(server_command=[sys.executable, "-m", "fxlsp", "serve", "--stdio"])


@pytest_lsp.fixture(  # type: ignore[untyped-decorator]
    params=["visual_studio_code", "neovim", "emacs"], config=SERVER
)
async def client(request: pytest.FixtureRequest, lsp_client: LanguageClient, tmp_path: Path) -> AsyncIterator[None]:
    for method in ASKED_OF_THE_EDITOR:
        lsp_client.feature(method)(agree)
    folder = types.WorkspaceFolder(uri=tmp_path.as_uri(), name="workspace")
    options = {"trusted": True, "python": sys.executable}
    capabilities = client_capabilities(request.param)
    params = types.InitializeParams(capabilities, workspace_folders=[folder], initialization_options=options)
    await lsp_client.initialize_session(params)
    yield
    await lsp_client.shutdown_session()


def agree(_: types.RegistrationParams | None) -> None:
    """Answers a request that needs no answer."""


async def test_every_answer_fits_the_editor(client: LanguageClient, tmp_path: Path) -> None:
    uri = (tmp_path / "net.py").as_uri()
    item = types.TextDocumentItem(uri=uri, language_id="python", version=1, text=NET)
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
    document = types.TextDocumentIdentifier(uri=uri)

    lens = (await asyncio.wait_for(traced_lenses(client, document), PATIENCE))[0]
    assert (await client.code_lens_resolve_async(lens)).command == lens.command
    (symbol,) = await client.text_document_document_symbol_async(types.DocumentSymbolParams(document)) or ()
    assert symbol.name == "Net"
    hover = await client.text_document_hover_async(types.HoverParams(document, types.Position(12, 20)))
    assert hover is not None
    everything = types.Range(types.Position(0, 0), types.Position(99, 0))
    hints = await client.text_document_inlay_hint_async(types.InlayHintParams(document, everything))
    assert [hint.label for hint in hints or ()] == ["(2, 3)", "(2, 3)", "(2, 4)?"]
    resolved = await client.inlay_hint_resolve_async((hints or ())[0])
    assert resolved.tooltip is not None
    (problem,) = await problems(client, document)
    assert problem.code == "FX401"
    asked = types.CodeActionParams(document, problem.range, types.CodeActionContext(diagnostics=[problem]))
    actions = await client.text_document_code_action_async(asked) or ()
    assert [action.title for action in actions] == ["Make self.fc take 3 features", "Ignore FX401 here"]
    await navigate(client, document)


async def navigate(client: LanguageClient, document: types.TextDocumentIdentifier) -> None:
    """Asks what goes about the model by its module calls."""
    call = types.Position(12, 18)
    (place,) = await client.text_document_definition_async(types.DefinitionParams(document, call)) or ()  # type: ignore[misc]
    found = place.target_range if isinstance(place, types.LocationLink) else place.range
    assert found.start == types.Position(8, 32)
    assert await client.text_document_implementation_async(types.ImplementationParams(document, call)) is None
    (module, *_) = await client.workspace_symbol_async(types.WorkspaceSymbolParams("Net.fc")) or ()
    assert module.name == "Net.fc"
    prepare = types.CallHierarchyPrepareParams(document, types.Position(5, 7))
    if get_capability(client.capabilities, "text_document.call_hierarchy", None) is not None:
        (item,) = await client.text_document_prepare_call_hierarchy_async(prepare) or ()
        outgoing = await client.call_hierarchy_outgoing_calls_async(types.CallHierarchyOutgoingCallsParams(item))
        assert [call.to.name for call in outgoing or ()] == ["flat", "fc"]
        assert not await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(item))


async def traced_lenses(client: LanguageClient, document: types.TextDocumentIdentifier) -> Sequence[types.CodeLens]:
    """The lenses once the model has been traced."""
    while True:
        lenses = await client.text_document_code_lens_async(types.CodeLensParams(document)) or ()
        if any(lens.command and "1 problem" in lens.command.title for lens in lenses):
            return lenses
        await asyncio.sleep(0.02)


async def problems(client: LanguageClient, document: types.TextDocumentIdentifier) -> Sequence[types.Diagnostic]:
    """Those that were pushed, else pulled: the server does the one or the other."""
    if document.uri in client.diagnostics:
        return client.diagnostics[document.uri]
    report = await client.text_document_diagnostic_async(types.DocumentDiagnosticParams(document))
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    return report.items
