"""Where a module call leads: to the ``forward`` that ran, and to the line that registered the module.

A Python server runs beside this one and editors show the places of both. So nothing is repeated that it knows: for
``self.conv(x)`` it finds ``self.conv = ...``. It knows neither which ``forward`` that runs, nor what an element of a
container is, a loop variable, or a module registered by ``add_module``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.trace_view.module_call_at import ModuleCallSite, ReportCall, call_site_at, forward_target
from fxlsp.ide.trace_view.module_tree import place_of_module
from fxlsp.ide.trace_view.targets import NavigationTarget, target_of
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span


@dataclass(frozen=True, slots=True)
class CallTargets:
    """Where an expression leads."""

    name: Span
    """What of the expression names the module."""
    forwards: tuple[NavigationTarget, ...]
    """Each ``forward`` that ran there, once."""
    registrations: tuple[NavigationTarget, ...] = ()
    """The lines that registered the modules that it calls."""


def definition(snapshot: Snapshot, path: str, line: int, column: int) -> CallTargets | None:
    """What ran at the module call under the cursor, and where that was registered; None where no module is called."""
    site = call_site_at(snapshot, path, line, column)
    if site is None:
        return None
    registrations = _once(_registration(snapshot, reported) for reported in site.direct)
    return CallTargets(site.name, _forwards(snapshot, site), registrations)


def implementation(snapshot: Snapshot, path: str, line: int, column: int) -> CallTargets | None:
    """Every ``forward`` that ran at the module call under the cursor, in whatever instance and trace."""
    site = call_site_at(snapshot, path, line, column)
    return None if site is None else CallTargets(site.name, _forwards(snapshot, site))


def unknown_to_python(
    targets: CallTargets, document: Document, text_of: Callable[[str], Document | None]
) -> Iterator[NavigationTarget]:
    """The registrations that a Python server does not find by itself.

    Args:
        document: holds the module call.
        text_of: the texts of the files to which ``leads`` lead; None for one that cannot be read.
    """
    name = document.lines.slice(targets.name)
    for target in targets.registrations:
        text = text_of(target.path)
        registered = "" if text is None else text.lines.slice(target.span)
        # ``layer`` stands in ``self.layer = ...``, but not in ``self.add_module("layer", ...)``.
        if not registered.endswith(f".{name}"):
            yield target


def _forwards(snapshot: Snapshot, site: ModuleCallSite) -> tuple[NavigationTarget, ...]:
    return _once(forward_target(snapshot, reported) for reported in site.calls)


def _registration(snapshot: Snapshot, reported: ReportCall) -> NavigationTarget | None:
    registered = reported.index.modules.get(reported.nested.call.module_path)
    return None if registered is None else target_of(snapshot, reported.state, place_of_module(registered.module))


def _once(targets: Iterable[NavigationTarget | None]) -> tuple[NavigationTarget, ...]:
    """The targets without those that were edited away; one that several traces name once."""
    return tuple({(target.path, target.span): target for target in targets if target is not None}.values())
