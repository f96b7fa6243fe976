"""The counts of the package's structure stay within their limits; ``python -m dev.structure -v`` lists what counts."""

from __future__ import annotations

import ast

import pytest

from dev.structure.code_tables import RECORDS, code_tables
from dev.structure.counts import counts, unlisted_layers
from dev.structure.private_torch import private_uses
from dev.structure.sources import SourceFile, read_sources
from fxlsp.report import codes

SOURCES = read_sources()


def test_no_count_is_above_its_limit() -> None:
    above = {each.name: (each.number, each.limit, *each.found) for each in counts(SOURCES) if each.is_exceeded}
    assert above == {}


def test_each_layer_has_a_limit_of_lines() -> None:
    assert unlisted_layers(SOURCES) == set()


def test_only_quick_fixes_have_a_table_of_codes_beside_the_records() -> None:
    """A new code is one record, a check and a page. It needs no quick fix."""
    found = [(each.path, name) for each in SOURCES if each.path not in RECORDS for name in code_tables(each.tree)]
    assert found == [("ide/fixes/registry.py", "FIXERS")]


def test_a_code_is_named_by_its_constant() -> None:
    """Else what depends on a code is not found by its name, nor is a table of it."""
    named = [
        f"{each.path}:{node.lineno} {node.value}"
        for each in SOURCES
        if each.path not in RECORDS
        for node in ast.walk(each.tree)
        if isinstance(node, ast.Constant) and node.value in codes.RECORDS
    ]
    assert named == []


@pytest.mark.parametrize(
    "text",
    [
        "_RAISES = (OPERATION_FAILS, codes.CODE_FAILS)",
        "_FAMILIES: tuple[str, ...] = ('FX1', 'FX402')",
        "_EXPLAINS = OTHERS.union({RANDOM, CONSTANT})",
        "class Check:\n    CODES = [RANDOM, *OTHERS, CONSTANT]",
        "if TYPE_CHECKING:\n    ADVICE = {RANDOM: 'seed it'}",
    ],
)
def test_a_table_of_codes_is_found(text: str) -> None:
    assert len(list(code_tables(ast.parse(text)))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "_RAISES = codes_with(Trait.RAISES)",
        "_REFUSED = {'__len__': LENGTH, '__iter__': ITERATION}",
        "_PATTERNS = ((re.compile('x'), LENGTH), (re.compile('y'), ITERATION))",
        "def f(code):\n    return code in (LENGTH, ITERATION)",
        "_ONE = (LENGTH,)",
    ],
)
def test_what_is_no_table_of_codes_is_not_found(text: str) -> None:
    assert list(code_tables(ast.parse(text))) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import torch\nx = torch._C", ["torch._C"]),
        ("from torch.nn import modules as m\nx = m.conv._ConvNd", ["torch.nn.modules.conv._ConvNd"]),
        ("import torch\nx = torch.nn.Linear", []),
    ],
)
def test_a_private_part_of_torch_is_found(text: str, found: list[str]) -> None:
    assert list(private_uses(ast.parse(text))) == found


def test_a_full_folder_a_small_module_and_a_reader_of_bytecode_are_counted() -> None:
    full = [SourceFile(f"wire/m{number}.py", "") for number in range(20)]
    small = [SourceFile("ide/small.py", "x = 1\n"), SourceFile("ide/large.py", "from fxlsp.ide import small\n" * 80)]
    reader = [SourceFile("ide/reader.py", "import dis\n")]
    found = {each.name: each.number for each in counts([*full, *small, *reader])}
    assert found["modules of the fullest folder, wire"] == 20
    assert found["modules below 60 lines with one importer"] == 1
    assert found["modules that read bytecode"] == 1
