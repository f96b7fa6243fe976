"""Targets of a module call: the ``forward`` that ran, the line that registered it.

A Python language server runs beside this one, and editors show the locations of both. So nothing is repeated that it
finds: for ``self.conv(x)`` it finds ``self.conv = ...``. It does not find which ``forward`` that runs, nor what an
element of a container is, a loop variable, or a module registered by ``add_module``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.trace_view.at_cursor import ModuleCallSite, call_site_at, forward_target
from fxlsp.ide.trace_view.call_tree import NestedCall
from fxlsp.ide.trace_view.in_trace import InTrace, NavigationTarget, target_of
from fxlsp.ide.trace_view.module_tree import place_of_module
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span


@dataclass(frozen=True, slots=True)
class CallTargets:
    """Targets of an expression that calls a module."""

    name: Span
    """The part of the expression that names the module."""
    forwards: tuple[NavigationTarget, ...]
    """Each ``forward`` that ran there, once."""
    registrations: tuple[NavigationTarget, ...] = ()
    """The lines that registered the modules that it calls."""


def definition(snapshot: Snapshot, path: str, line: int, column: int) -> CallTargets | None:
    """Return what ran at the module call at a position, and its registration.

    None if no module is called there.
    """
    site = call_site_at(snapshot, path, line, column)
    if site is None:
        return None
    registrations = _once(_registration(snapshot, reported) for reported in site.direct)
    return CallTargets(site.name, _forwards(snapshot, site), registrations)


def implementation(snapshot: Snapshot, path: str, line: int, column: int) -> CallTargets | None:
    """Return every ``forward`` that ran at the module call at a position.

    It may have run in any instance and trace.
    """
    site = call_site_at(snapshot, path, line, column)
    return None if site is None else CallTargets(site.name, _forwards(snapshot, site))


def unknown_to_python(
    targets: CallTargets, document: Document, text_of: Callable[[str], Document | None]
) -> Iterator[NavigationTarget]:
    """Yield the registrations that a Python language server does not find.

    Args:
        document: holds the module call.
        text_of: returns the text of a target's file; None if it cannot be read.
    """
    name = document.lines.slice(targets.name)
    for target in targets.registrations:
        text = text_of(target.path)
        registered = "" if text is None else text.lines.slice(target.span)
        # ``self.layer = ...`` ends with ``.layer`` there, ``self.add_module("layer", ...)`` does not.
        if not registered.endswith(f".{name}"):
            yield target


def _forwards(snapshot: Snapshot, site: ModuleCallSite) -> tuple[NavigationTarget, ...]:
    return _once(forward_target(snapshot, reported) for reported in site.calls)


def _registration(snapshot: Snapshot, reported: InTrace[NestedCall]) -> NavigationTarget | None:
    registered = reported.index.modules.get(reported.item.call.module_path)
    return None if registered is None else target_of(snapshot, reported.state, place_of_module(registered.module))


def _once(targets: Iterable[NavigationTarget | None]) -> tuple[NavigationTarget, ...]:
    """Return the targets that were not edited away, each once."""
    return tuple({(target.path, target.span): target for target in targets if target is not None}.values())
