"""What of a cell is Python, and that it stays where it is."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxlsp.source.text.notebooks.ipython_magics import python_of


@pytest.mark.parametrize(
    "line",
    [
        "%matplotlib inline",
        "!pip install -q einops",
        "!!ls",
        "?nn.Linear",
        "??nn.Linear",
        "nn.Linear?",
        "nn.Linear??",
        "%time?",
        "/f 1",
        "pip install einops",
        "cd ..",
        "%cd /data  # 😀",
        "%timeit net(x)",
        "%time !ls",
    ],
)
def test_a_line_that_is_not_python_is_blank(line: str) -> None:
    blank = " " * len(line)
    assert python_of(f"x = 1\n{line}\ny = 2\n") == f"x = 1\n{blank}\ny = 2\n"


@pytest.mark.parametrize(
    "text",
    [
        "x = (a\n% b\n)\n",
        "x = a \\\n% b\n",
        "x = '''\n%magic\n!ls\n'''\n",
        'x = f"""{a}\n? \\"""\n%magic"""\n',
        "x = [ # (\n]\ny = x % 2\n",
        "x = a != b\n",
        "x = 'a = !b'\n",
        "f(a=1)\n",
        "ls = 1\nls -ls\n",
        "run = cd = 2\ncd (run)\n",
        "# what?\n",
        "@decorator\ndef f(): ...\n",
    ],
)
def test_python_is_left_as_it_is(text: str) -> None:
    assert python_of(text) == text


def test_a_command_goes_on_behind_a_backslash() -> None:
    assert python_of("!ls \\\n  -l \\\n  -a\nx = 1").split("\n") == [" " * 5, " " * 6, " " * 4, "x = 1"]


def test_a_block_keeps_a_statement() -> None:
    text = python_of("if a:\n    !ls\nelse:\n\t%magic\n")
    assert text == "if a:\n    pass\nelse:\n\tpass\n"


@pytest.mark.parametrize("line", ["files = !ls -l", "here = %pwd", "a, b = !ls", "x[0] = !ls", "x.y = %magic a = b"])
def test_the_value_of_a_command_is_an_error_that_says_so(line: str) -> None:
    target = line.partition("=")[0]
    text = python_of(line)
    assert text.startswith(f"{target}= ")
    with pytest.raises(RuntimeError, match="does not run the commands of a notebook"):
        exec(text)


def test_what_is_timed_is_python_in_its_place() -> None:
    text = python_of("%time net = Net(1)\n")
    assert text == "if 1: net = Net(1)\n"
    assert text.index("net") == len("%time ")


@pytest.mark.parametrize("magic", ["%%time", "%%capture out --no-stderr", "\n\n%%prun", "%%capture\n%%time"])
def test_cell_magics_that_run_their_cell_leave_it(magic: str) -> None:
    blank = "".join("\n" if character == "\n" else " " for character in magic)
    assert python_of(f"{magic}\nx = 1\n%magic\n") == f"{blank}\nx = 1\n      \n"


@pytest.mark.parametrize("magic", ["%%bash", "%%html", "%%writefile net.py", "%%timeit", "%%javascript", "%%unknown"])
def test_code_for_another_place_is_blank(magic: str) -> None:
    assert python_of(f"{magic}\nx = 1\r\n").split() == []
    assert python_of(f"{magic}\nx = 1\r\n").count("\n") == 2


@given(
    st.lists(
        st.sampled_from(
            ["%a", "!b\\", "x = (", ")", "'''", "x = 1", "if x:", "    %c", "y = !d", "é😀?", "#", "%%time", ""]
        )
    )
)
def test_every_line_stays_and_python_stays_in_it(lines: list[str]) -> None:
    after = python_of("\r\n".join(lines)).split("\n")
    assert len(after) == max(1, len(lines))
    for before, now in zip(lines, after, strict=False):
        assert now == before or now.startswith("y = ") or now.strip() in ("", "pass")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_all_ends_of_lines_are_known(end: str) -> None:
    text = python_of(f"%magic{end}x = 1{end}")
    assert text == "      \nx = 1\n"
    ast.parse(text)
