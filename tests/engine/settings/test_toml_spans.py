"""Spans of the keys and values of a TOML text."""

from __future__ import annotations

import pytest

from fxlsp.engine.settings.toml_spans import toml_entries

TEXT = """\
top = 1 # not "this"
[tool.fxlsp]
limits.seconds = 3.5
'quoted key' = "with ] and \\" and # in it"
inline = { a = 1, "b.c" = ['x', "y"] , d = { e = 2 } }
date = 1979-05-27T07:32:00Z

[ tool . fxlsp . recipes ]
"models/net.py:Net" = [
    "Net(1)",  # the first, "so"
    'Net(2)',
]
Long = \"\"\"
Net(3)\"\"\"

[[array]]
last = true
"""


def found(text: str) -> dict[str, tuple[str, str, list[str]]]:
    """Return the texts of each key, its value and its strings, by dotted key."""
    return {
        "/".join(each.keys): (
            text[slice(*each.key)],
            text[slice(*each.value)],
            [text[slice(*place)] for place in each.strings],
        )
        for each in toml_entries(text)
    }


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_key_and_value_has_its_place(newline: str) -> None:
    places = found(TEXT.replace("\n", newline))
    assert places["top"] == ("top", "1", [])
    assert places["tool/fxlsp/limits/seconds"] == ("limits.seconds", "3.5", [])
    assert places["tool/fxlsp/quoted key"][2] == ['with ] and \\" and # in it']
    assert places["tool/fxlsp/inline/a"] == ("a", "1", [])
    assert places["tool/fxlsp/inline/b.c"] == ('"b.c"', "['x', \"y\"]", ["x", "y"])
    assert places["tool/fxlsp/inline/d/e"] == ("e", "2", [])
    assert places["tool/fxlsp/date"][1] == "1979-05-27T07:32:00Z"
    assert places["tool/fxlsp/recipes"][0] == "tool . fxlsp . recipes"
    assert places["tool/fxlsp/recipes/models/net.py:Net"][2] == ["Net(1)", "Net(2)"]
    assert places["tool/fxlsp/recipes/Long"][2] == [f"{newline}Net(3)"]
    assert places["array/last"] == ("last", "true", [])


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "[", "a =", "a = {", "= 3\n", 'a = "', "a = ]\nb = 1"])
def test_what_is_no_toml_is_no_crash(text: str) -> None:
    assert isinstance(toml_entries(text), list)
