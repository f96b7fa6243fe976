"""Commands about recipes: list those of a model, choose one, write a comment.

Each takes the URI of a document and the name of a model in it, ``Outer.Inner``, and may take the ``id`` of a recipe
from the list. Missing arguments are requested by ``window/showMessageRequest``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.recipe_choices import RecipeChoice, recipe_choices, recipe_in_use, recipe_line, short_recipe
from fxlsp.ide.recipe_comment import NotWritableError, recipe_comment
from fxlsp.report.recipes import Recipe
from fxlsp.server.commands.ask_user import ask_user, resolve_model, show_info, show_warning
from fxlsp.server.requests.code_action import to_workspace_edit
from fxlsp.server.shared.command_names import CHOOSE_RECIPE, LIST_RECIPES, WRITE_RECIPE
from fxlsp.server.shared.server import Server
from fxlsp.server.shared.text_documents import text_document_at
from fxlsp.source.recipes.invented import has_invented_parts
from fxlsp.source.text.documents import uri_of_path

_AUTOMATIC = "automatic"
"""The ``id`` that undoes a choice."""
_WRITE_TITLE = "Write it as a comment"


def register(server: Server) -> None:
    # pygls passes the arguments as they arrived, and no more than these.

    @server.command(LIST_RECIPES)
    def list_recipes(uri: str, name: str) -> list[dict[str, Any]]:
        """Return the recipes of a model as data, for an editor with its own picker."""
        snapshot, path = server.engine.snapshot, server.path_of(uri)
        return [_to_json(server, choice) for choice in recipe_choices(snapshot, path, name)]

    @server.command(CHOOSE_RECIPE)
    async def choose_recipe(*arguments: str) -> None:
        model = await _resolve_model(server, arguments)
        if model is not None:
            await _choose(server, *model, arguments[2] if len(arguments) > 2 else None)

    @server.command(WRITE_RECIPE)
    async def write_recipe(*arguments: str) -> None:
        model = await _resolve_model(server, arguments)
        if model is not None:
            await _write(server, *model, arguments[2] if len(arguments) > 2 else None)


def _to_json(server: Server, choice: RecipeChoice) -> dict[str, Any]:
    return {
        "id": choice.id,
        "text": choice.text,
        "origin": choice.origin,
        "recipe": choice.recipe.to_json(),
        "location": _location(server, choice) if choice.file else None,
        "inUse": choice.in_use,
        "pinned": choice.pinned,
    }


def _location(server: Server, choice: RecipeChoice) -> dict[str, Any]:
    """Return the URI of a file or of a cell of an open notebook, and a line from 0."""
    document = server.engine.snapshot.documents.get(choice.file)
    if document is None or document.cells is None:
        return {"uri": uri_of_path(choice.file), "line": choice.line - 1}
    text_document = text_document_at(document, choice.line, server.encoding)
    return {"uri": text_document.uri, "line": choice.line - text_document.first_line}


async def _resolve_model(server: Server, arguments: Sequence[str]) -> tuple[str, str] | None:
    return await resolve_model(server, arguments, _names, "Which model?", "No model here has a recipe.")


def _names(snapshot: Snapshot, path: str) -> list[str]:
    names = dict.fromkeys(state.key.name for state in snapshot.states_in(path))
    return [name for name in names if recipe_line(snapshot, path, name) is not None]


async def _choose(server: Server, path: str, name: str, chosen: str | None) -> None:
    """Use the recipe with that ``id``, or the one that the user picks."""
    choices = recipe_choices(server.engine.snapshot, path, name)
    if chosen is None:
        chosen = await _picked(server, path, name, choices)
    if chosen is None:
        return
    if chosen == _WRITE_TITLE:
        await _write(server, path, name, None)
    elif chosen == _AUTOMATIC:
        server.engine.choose_recipe(path, name, None)
    elif (choice := _with_id(server, name, choices, chosen)) is not None:
        server.engine.choose_recipe(path, name, choice.recipe)


async def _picked(server: Server, path: str, name: str, choices: list[RecipeChoice]) -> str | None:
    """Return what the user picks: the ``id`` of a recipe, or another item."""
    recipe = recipe_in_use(server.engine.snapshot, path, name)
    items = {f"{number}: {choice.text} ({choice.origin})": choice.id for number, choice in enumerate(choices, 1)}
    if any(choice.pinned for choice in choices):
        items["The first that works"] = _AUTOMATIC
    if recipe is not None and not has_invented_parts(recipe):
        items[_WRITE_TITLE] = _WRITE_TITLE
    if not items:
        show_info(server, f"No recipe is known for {name}.")
        return None
    used = "" if recipe is None else f", now {short_recipe(recipe)}"
    return await ask_user(server, f"How is {name} made and fed{used}?", items)


async def _write(server: Server, path: str, name: str, chosen: str | None) -> None:
    snapshot = server.engine.snapshot
    recipe = recipe_in_use(snapshot, path, name)
    if chosen is not None:
        choice = _with_id(server, name, recipe_choices(snapshot, path, name), chosen)
        if choice is None:
            return
        recipe = choice.recipe
    if recipe is None:
        show_warning(server, f"No recipe is known for {name}: there is nothing to write.")
        return
    try:
        await _apply_comment(server, path, name, recipe)
    except NotWritableError as error:
        show_warning(server, str(error))


async def _apply_comment(server: Server, path: str, name: str, recipe: Recipe) -> None:
    """Write a recipe as the comment above its model.

    Raises:
        NotWritableError: it cannot be expressed with the names of the file, or not in a comment.
    """
    own = await server.engine.rewrite_for_document(path, recipe)
    document = server.engine.snapshot.documents.get(path)
    if own is None or document is None:
        raise NotWritableError(
            f"{short_recipe(recipe)} uses names of {recipe.file} that {path} cannot import: "
            "write the comment by hand, with what they stand for."
        )
    edit = recipe_comment(document, name, own)
    if edit is None:
        show_info(server, f"The comment above {name} says so already.")
        return
    label = f"Write the recipe of {name}"
    workspace_edit = to_workspace_edit(server, document, (edit,))
    try:
        params = types.ApplyWorkspaceEditParams(edit=workspace_edit, label=label)
        result = await server.workspace_apply_edit_async(params)
    except JsonRpcException as error:
        raise NotWritableError(f"The editor does not take the comment: {error}") from error
    if not result.applied:
        raise NotWritableError(f"The editor did not take the comment. {result.failure_reason or ''}".rstrip())


def _with_id(server: Server, name: str, choices: list[RecipeChoice], chosen: str) -> RecipeChoice | None:
    choice = next((each for each in choices if each.id == chosen), None)
    if choice is None:
        show_warning(server, f"That recipe of {name} is not there any more.")
    return choice
