"""Which model covers a class is looked up, not searched for: each key that is typed asks it for every model."""

from __future__ import annotations

from fxlsp.engine.state.model_tables import ModelTables, TraceAttempt
from fxlsp.engine.state.snapshot import ModelKey, ModelState

FIRST, SECOND = (ModelKey("python", "net.py", name, None) for name in ("First", "Second"))
BLOCK = {"net.py": frozenset({"Block"})}
HEAD = {"net.py": frozenset({"Head"}), "parts.py": frozenset({"Block"})}
PARTS = {"parts.py": frozenset({"Block"})}


def tables() -> ModelTables:
    models = ModelTables()
    models.set_models("net.py", {key: ModelState(key) for key in (FIRST, SECOND)})
    return models


def report(models: ModelTables, key: ModelKey, classes: dict[str, frozenset[str]]) -> None:
    models.set_report(ModelState(key), TraceAttempt(1, {}), classes)


def test_a_report_covers_its_classes_by_their_files() -> None:
    models = tables()
    report(models, FIRST, HEAD)

    assert [*models.covering("net.py", "Head")] == [FIRST]
    assert [*models.covering("parts.py", "Block")] == [FIRST]
    assert not [*models.covering("net.py", "Block")]


def test_the_next_report_covers_only_its_own() -> None:
    models = tables()
    report(models, FIRST, BLOCK)
    report(models, FIRST, HEAD)

    assert not [*models.covering("net.py", "Block")]
    assert [*models.covering("net.py", "Head")] == [FIRST]


def test_classes_of_a_further_file_are_added_to_those_of_a_report() -> None:
    models = tables()
    report(models, FIRST, BLOCK)
    models.add_covered(FIRST, PARTS)

    assert [*models.covering("net.py", "Block")] == [FIRST]
    assert [*models.covering("parts.py", "Block")] == [FIRST]


def test_a_model_that_is_traced_again_stays_before_those_that_came_later() -> None:
    models = tables()
    for key in (FIRST, SECOND, FIRST):
        report(models, key, BLOCK)

    assert [*models.covering("net.py", "Block")] == [FIRST, SECOND]


def test_a_model_that_is_forgotten_or_covered_covers_nothing() -> None:
    models = tables()
    for key in (FIRST, SECOND):
        report(models, key, BLOCK)
    models.forget([FIRST])
    assert [*models.covering("net.py", "Block")] == [SECOND]

    models.cover(SECOND, FIRST)
    assert not [*models.covering("net.py", "Block")]
