"""Settings from ``pyproject.toml`` and from the client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fxlsp.engine.settings.settings import HintKinds, Settings, read_settings
from fxlsp.report.locations import Location
from fxlsp.report.tracer_choice import ObjectReference


def write(folder: Path, text: str) -> str:
    (folder / "pyproject.toml").write_text(text)
    return str(folder)


def test_without_a_file_all_values_are_the_defaults(tmp_path: Path) -> None:
    settings, problems = read_settings(str(tmp_path))
    assert (settings, problems) == (Settings(), ())
    assert settings.origin("hints.shapes") == "default"


def test_the_client_wins_key_by_key_and_null_is_unset(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        '[tool.fxlsp]\npython = "py"\nhints = false\nlimits.seconds = 3\n'
        '[tool.fxlsp.recipes]\nNet = "Net(1)"\nOther = ["Other()", "Other(2)"]\n',
    )
    client = {"python": None, "hints": True, "limits": {"megabytes": 10}, "recipes": {"Net": "Net(2)"}}
    settings, problems = read_settings(folder, client)
    assert problems == ()
    assert (settings.python, settings.hints) == ("py", HintKinds())
    assert (settings.seconds, settings.megabytes) == (3.0, 10)
    assert settings.recipes == {"Net": ("Net(2)",), "Other": ("Other()", "Other(2)")}
    assert (settings.origin("python"), settings.origin("hints.shapes")) == ("pyproject", "client")


def test_the_switch_of_all_hints_leaves_how_sizes_are_written(tmp_path: Path) -> None:
    folder = write(tmp_path, '[tool.fxlsp]\nhints.sizes = "both"\n')
    hints = read_settings(folder, {"hints": False})[0].hints
    assert (hints.shapes, hints.sizes, hints.has_symbols) == (False, "both", True)
    assert not read_settings(folder, {"hints": {"sizes": "numbers"}})[0].hints.has_symbols


def test_hints_are_switched_all_at_once_or_by_kind_and_the_last_word_counts(tmp_path: Path) -> None:
    folder = write(tmp_path, "[tool.fxlsp]\nhints = { arguments = false }\n")
    assert read_settings(folder)[0].hints == HintKinds(arguments=False)
    assert read_settings(folder, {"hints": True})[0].hints == HintKinds()
    assert read_settings(folder, {"hints": {"dtypes": False, "arguments": None}})[0].hints == HintKinds(
        True, False, False
    )
    write(tmp_path, "[tool.fxlsp]\nhints = false\n")
    settings, problems = read_settings(folder, {"hints": {"shapes": True}})
    assert (settings.hints, problems) == (HintKinds(True, False, False), ())
    assert (settings.origin("hints.shapes"), settings.origin("hints.dtypes")) == ("client", "pyproject")


def test_an_empty_table_resets_nothing(tmp_path: Path) -> None:
    settings, _ = read_settings(write(tmp_path, "[tool.fxlsp]\n"), {"python": "py", "limits": {}, "recipes": {}})
    assert settings.python == "py"


def test_a_recipe_may_name_the_file_of_its_model(tmp_path: Path) -> None:
    folder = write(tmp_path, '[tool.fxlsp.recipes]\n"models/net.py:Net" = "Net(1)"\nNet = "Net(2)"\n')
    settings, _ = read_settings(folder)
    assert settings.recipes_of(str(tmp_path / "models/net.py"), "Net") == ("Net(1)",)
    assert settings.recipes_of(str(tmp_path / "other.py"), "Net") == ("Net(2)",)
    assert settings.recipes_of(str(tmp_path / "other.py"), "None") == ()


def test_the_file_of_a_folder_above_counts(tmp_path: Path) -> None:
    write(tmp_path, "[tool.fxlsp]\nhints = false\n")
    (tmp_path / "inner").mkdir()
    assert not read_settings(str(tmp_path / "inner"))[0].hints.shapes


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ('[tool.fxlsp]\n\nhints = "yes"\n', "'hints' must be true, false or a table, not 'yes'", 3),
        ('[tool.fxlsp.hints]\nshapes = "yes"\n', "'hints.shapes' must be true or false, not 'yes'", 2),
        (
            '[tool.fxlsp.hints]\nsizes = "letters"\n',
            "'hints.sizes' must be one of symbolic, numbers, both, not 'letters'",
            2,
        ),
        ("[tool.fxlsp]\nhint = true\n", "there is no setting 'hint'; did you mean hints?", 2),
        ("[tool.fxlsp.limits]\nsecond = 3\n", "no setting 'limits.second'; did you mean limits.seconds?", 2),
        ("[tool.fxlsp]\nseverity.FX101 = 'off'\n", "no setting 'severity'; did you mean severities?", 2),
        ("[tool.fxlsp]\nqqq = 3\n", "there is no setting 'qqq' (there are: python, ", 2),
        ("[tool.fxlsp.limits]\nseconds = -1\n", "'limits.seconds' must be a number above 0, not -1", 2),
        ("[tool.fxlsp.limits]\nmegabytes = 1.5\n", "'limits.megabytes' must be an integer above 0", 2),
        ("[tool.fxlsp]\nlimits = 3\n", "there is no setting 'limits'", 2),
        ("[tool.fxlsp.recipes]\nNet = 3\n", "'recipes.Net' must be a string or a list of strings", 2),
        ("[tool.fxlsp]\npython = 3\n", "'python' must be a string", 2),
        ("[tool.fxlsp]\ntrusted = true\n", "cannot vouch for itself", 2),
        ("[tool.fxlsp\n", "is not TOML", 1),
    ],
)
def test_a_mistake_is_reported_at_its_place_and_changes_nothing(
    tmp_path: Path, text: str, words: str, line: int
) -> None:
    settings, problems = read_settings(write(tmp_path, text))
    assert settings == Settings()
    assert len(problems) == 1
    assert words in problems[0].message
    assert problems[0].location is not None
    assert problems[0].location.line == line


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ('[tool.fxlsp]\nhints = "yes" # no\n', '"yes"'),
        ("[tool.fxlsp]\nhint = true\n", "hint"),
        ("tool = { fxlsp = { limits = { seconds = -1 } } }\n", "-1"),
        ("[tool]\nfxlsp.recipes.Net = [3]\n", "[3]"),
        ('[tool.fxlsp.severities]\nFX0 = "off"\n', '"off"'),
        ("[tool.fxlsp]\ntrusted = true\n", "trusted"),
        ("[tool]\nfxlsp = 3\n", "3"),
        ("[tool.fxlsp\n", "\n"),
        ("[tool.fxlsp", ""),
    ],
)
def test_a_mistake_is_reported_where_exactly_it_is(tmp_path: Path, text: str, covered: str) -> None:
    _, (problem,) = read_settings(write(tmp_path, text))
    assert problem.location is not None
    place, lines = problem.location, text.split("\n")
    assert (lines[place.line - 1] + "\n")[place.column - 1 : place.end_column - 1].strip() == covered.strip()


def test_a_configured_recipe_knows_where_it_is_written(tmp_path: Path) -> None:
    text = '[tool.fxlsp.recipes]\n"net.py:Net" = [\n  "Net(1)",\n  \'Net(2)\',\n]\nNet = "Net(3)"\n'
    settings, _ = read_settings(write(tmp_path, text), {"recipes": {"Net": "Net(4)"}})
    first, second = settings.configured(str(tmp_path / "net.py"), "Net")
    assert (first.text, first.place) == ("Net(1)", Location(str(tmp_path / "pyproject.toml"), 3, 4, 3, 10))
    assert (second.text, second.place) == ("Net(2)", Location(str(tmp_path / "pyproject.toml"), 4, 4, 4, 10))
    (client,) = settings.configured(str(tmp_path / "other.py"), "Net")
    assert (client.text, client.place) == ("Net(4)", None)


@pytest.mark.parametrize("client", [{"hints": 3}, {"nonsense": True}, {"recipes": []}, {"limits": {"seconds": "1"}}])
def test_a_mistake_of_the_client_is_reported_too(tmp_path: Path, client: dict[str, Any]) -> None:
    settings, problems = read_settings(str(tmp_path), client)
    assert settings == Settings()
    assert problems[0].message.startswith("setting of the editor or command line: ")


@pytest.mark.parametrize("text", ["tool = 3\n", "[tool]\nfxlsp = 3\n"])
def test_a_file_of_another_shape_is_no_crash(tmp_path: Path, text: str) -> None:
    assert read_settings(write(tmp_path, text))[0] == Settings()


def test_a_file_that_is_no_text_is_reported(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe\x00")
    assert "cannot be read" in read_settings(str(tmp_path))[1][0].message


def test_only_the_client_can_trust(tmp_path: Path) -> None:
    assert read_settings(str(tmp_path), {"trusted": True})[0].trusted


def test_severities_and_ignored_codes_are_by_code_or_family(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        '[tool.fxlsp]\nprofile = "shapes"\nignore = ["FX205"]\n[tool.fxlsp.severities]\nFX1 = "off"\nFX401 = "info"\n',
    )
    settings, problems = read_settings(folder, {"severities": {"FX401": "error"}})
    assert problems == ()
    assert (settings.profile, settings.ignore) == ("shapes", ("FX205",))
    assert settings.severities == {"FX1": "off", "FX401": "error"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('profile = "tensors"', "'profile' must be one of auto, fx, shapes, not 'tensors'"),
        ('ignore = "FX101"', "'ignore' must be a list of problem codes"),
        ('ignore = ["E101"]', "'E101' is no problem code (such as FX101)"),
        ('ignore = ["fx101"]', "no family of them (such as FX1); did you mean FX101?"),
        ("ignore = [101]", "no family of them (such as FX1); did you mean FX101?"),
        ('severities.FX101 = "fatal"', "'severities.FX101' must be one of error, warning, info, hint, off"),
        ('severities.FX0 = "off"', "'FX0' is no problem code"),
        ("severities = 3", "there is no setting 'severities'"),
        ('tracer = "MyTracer"', "'tracer' must be 'package.module:Name' or 'file.py:Name', not 'MyTracer'"),
        ('leafModules = "*.Block"', "'leafModules' must be a list of strings, not '*.Block'"),
        ('exclude = "vendored"', "'exclude' must be a list of strings, not 'vendored'"),
        ("record.command = 3", "'record.command' must be a string, not 3"),
        ('retrace = "never"', "'retrace' must be one of type, save, not 'never'"),
        ('frontends = "export"', "'frontends' must be a list of export, compile, not 'export'"),
        ('frontends = ["fx"]', "'frontends' must be a list of export, compile, not ['fx']"),
        ("frontends = [[1]]", "'frontends' must be a list of export, compile, not [[1]]"),
        ('wrap = ["fused"]', "'wrap' must list functions as 'package.module:function', not 'fused'"),
    ],
)
def test_a_severity_or_code_that_is_none_is_reported_in_its_line(tmp_path: Path, text: str, words: str) -> None:
    settings, (problem,) = read_settings(write(tmp_path, f"[tool.fxlsp]\n{text}\n"))
    assert settings == Settings()
    assert words in problem.message
    assert problem.location is not None
    assert problem.location.line == 2


def test_tracers_and_functions_are_named_by_module_or_by_file(tmp_path: Path) -> None:
    text = (
        '[tool.fxlsp]\ntracer = "sub/mine.py:Mine"\nleafModules = ["*.Block"]\nwrap = ["a.b.f",\n "a.b:g", "c.py:h"]\n'
    )
    folder = write(tmp_path, text)
    choice = read_settings(folder)[0].tracing
    assert choice.tracer is not None
    assert choice.tracer.text == f"{tmp_path}/sub/mine.py:Mine"
    assert choice.tracer.place == Location(f"{folder}/pyproject.toml", 2, 11, 2, 27)
    assert choice.leaf_modules == ("*.Block",)
    assert [function.text for function in choice.wrap] == ["a.b:f", "a.b:g", f"{tmp_path}/c.py:h"]
    assert [function.place and function.place.line for function in choice.wrap] == [4, 5, 5]
    other = read_settings(folder, {"tracer": "x:Y"})[0].tracing
    assert (other.tracer, other.leaf_modules) == (ObjectReference("x:Y"), choice.leaf_modules)
    assert other.tracer is not None
    assert other.tracer.place is None
