"""Capabilities of the editor, as far as the server depends on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lsprotocol import types
from pygls.capabilities import get_capability


@dataclass(frozen=True, slots=True)
class Support:
    """Capabilities of the client, all off until it announces them."""

    markdown: bool = False
    markdown_tables: bool = False
    """Its markdown is GitHub's: of the parsers that editors name, VS Code's renders tables."""
    resolves_tooltips: bool = False
    """It requests a hint's tooltip when it is needed."""
    lens_refresh: bool = False
    hint_refresh: bool = False
    pulls_problems: bool = False
    """It pulls problems, and accepts refresh requests for them; otherwise problems are pushed.

    Never both.
    """
    related_places: bool = False
    unnecessary: bool = False
    """It fades code that a problem reports as unused."""
    code_pages: bool = False
    """It shows a link where a problem's code has a page."""
    configuration: bool = False
    watches_configuration: bool = False
    watches_files: bool = False
    progress: bool = False
    code_actions: bool = False
    """It accepts code actions, not commands alone."""
    preferred_actions: bool = False
    versioned_edits: bool = False
    """It accepts edits for one version of a document."""
    shows_documents: bool = False
    """It opens documents at the server's request, in a browser too."""
    definition_links: bool = False
    """It accepts links, which contain the range of the origin and the extent of the definition."""
    implementation_links: bool = False
    nested_symbols: bool = False
    """It shows the outline of a file as a tree."""
    resolves_symbol_places: bool = False
    """It requests the location of a workspace symbol when it is needed."""
    call_hierarchy: bool = False
    shows_status: bool = False
    """It shows the status of the session (:mod:`fxlsp.server.publish.status`)."""

    @classmethod
    def of(cls, client: types.ClientCapabilities) -> Support:
        """Return what the client announced in ``initialize``."""

        def has(name: str) -> bool:
            return bool(get_capability(client, name, False))

        hover_formats = get_capability(client, "text_document.hover.content_format", None) or ()
        resolved = get_capability(client, "text_document.inlay_hint.resolve_support.properties", None) or ()
        located = get_capability(client, "workspace.symbol.resolve_support.properties", None) or ()
        tags = get_capability(client, "text_document.publish_diagnostics.tag_support.value_set", None) or ()
        pulls = get_capability(client, "text_document.diagnostic", None) is not None
        return cls(
            markdown=types.MarkupKind.Markdown in hover_formats,
            markdown_tables=get_capability(client, "general.markdown.parser", None) == "marked",
            resolves_tooltips="tooltip" in resolved,
            lens_refresh=has("workspace.code_lens.refresh_support"),
            hint_refresh=has("workspace.inlay_hint.refresh_support"),
            pulls_problems=pulls and has("workspace.diagnostics.refresh_support"),
            related_places=pulls or has("text_document.publish_diagnostics.related_information"),
            unnecessary=types.DiagnosticTag.Unnecessary in tags,
            code_pages=any(
                has(f"text_document.{feature}.code_description_support")
                for feature in ("publish_diagnostics", "diagnostic")
            ),
            configuration=has("workspace.configuration"),
            watches_configuration=has("workspace.did_change_configuration.dynamic_registration"),
            watches_files=has("workspace.did_change_watched_files.dynamic_registration"),
            progress=has("window.work_done_progress"),
            code_actions=has("text_document.code_action.code_action_literal_support"),
            preferred_actions=has("text_document.code_action.is_preferred_support"),
            versioned_edits=has("workspace.workspace_edit.document_changes"),
            shows_documents=has("window.show_document.support"),
            definition_links=has("text_document.definition.link_support"),
            implementation_links=has("text_document.implementation.link_support"),
            nested_symbols=has("text_document.document_symbol.hierarchical_document_symbol_support"),
            resolves_symbol_places="location.range" in located,
            call_hierarchy=get_capability(client, "text_document.call_hierarchy", None) is not None,
            shows_status=_is_enabled(client.experimental, "fxlspStatus"),
        )


def _is_enabled(experimental: object, name: str) -> bool:
    """Return whether an experimental capability is on.

    pygls makes objects of what the protocol leaves open.
    """
    value = experimental.get(name) if isinstance(experimental, Mapping) else getattr(experimental, name, False)
    return value is True
