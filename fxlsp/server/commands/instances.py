"""Commands about instances of a class: list them, choose the one to show.

An instance is a call that ran the class's ``forward``. Each command takes the URI of a document and the name of a
class in it, ``Outer.Inner``, and may take the ``id`` of an instance from the list. Missing arguments are requested by
``window/showMessageRequest``.
"""

from __future__ import annotations

from typing import Any

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.trace_view.instances import InstanceChoice, instance_choices
from fxlsp.ide.trace_view.outline import outline
from fxlsp.server.commands.ask_user import ask_user, resolve_model, show_info, show_warning
from fxlsp.server.shared.command_names import CHOOSE_INSTANCE, LIST_INSTANCES
from fxlsp.server.shared.server import Server

_FIRST = "first"
"""The ``id`` that undoes a choice."""
_NOWHERE = "No class here ran in more than one place."


def register(server: Server) -> None:
    @server.command(LIST_INSTANCES)
    def list_instances(uri: str, name: str) -> list[dict[str, Any]]:
        """Return the instances of a class as data, for an editor with its own picker."""
        return [_to_json(each) for each in instance_choices(server.engine.snapshot, server.path_of(uri), name)]

    @server.command(CHOOSE_INSTANCE)
    async def choose_instance(*arguments: str) -> None:
        place = await resolve_model(server, arguments, _names, "Of which class?", _NOWHERE)
        if place is not None:
            await _choose(server, *place, arguments[2] if len(arguments) > 2 else None)


def _to_json(choice: InstanceChoice) -> dict[str, Any]:
    return {"id": choice.id, "text": choice.text, "shapes": choice.flow, "chosen": choice.chosen}


def _names(snapshot: Snapshot, path: str) -> list[str]:
    names = [each.model.qualname for each in outline(snapshot, path)]
    return [name for name in names if len(instance_choices(snapshot, path, name)) > 1]


async def _choose(server: Server, path: str, name: str, chosen: str | None) -> None:
    """Show the instance with that ``id``, or the one that the user picks."""
    choices = instance_choices(server.engine.snapshot, path, name)
    if chosen is None:
        chosen = await _picked(server, name, choices)
    if chosen is None:
        return
    choice = next((each for each in choices if each.id == chosen), None)
    if choice is not None or chosen == _FIRST:
        server.engine.choose_instance(path, name, None if choice is None else choice.instance)
    else:
        show_warning(server, f"That instance of {name} is not there any more.")


async def _picked(server: Server, name: str, choices: list[InstanceChoice]) -> str | None:
    items = {f"{number}: {choice.text} · {choice.flow}": choice.id for number, choice in enumerate(choices, 1)}
    if any(choice.chosen for choice in choices):
        items["The first one"] = _FIRST
    if not items:
        show_info(server, f"No trace has run {name}.")
        return None
    return await ask_user(server, f"Which {name} do you want to see?", items)
