"""The counts, and the limits that they must not exceed."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .bytecode import MODULES, NAMES, bytecode_uses
from .code_tables import RECORDS, code_tables
from .private_torch import private_uses
from .sources import PROJECT, SourceFile

MOST_FILES = 16
"""Modules of a folder, without its ``__init__``."""
MOST_LINES = 350
"""Of a module."""
LONG_MODULES = 10
"""Those that have more lines."""
SMALL = 60
"""Lines below which a module with one importer belongs into that importer."""
SMALL_MODULES = 20
"""Those that are small, have one importer and are none of :data:`_ONE_A_FEATURE`."""
LAYER_LINES: Mapping[str, int] = {
    "cli": 5400,
    "engine": 9300,
    "graphview": 1000,
    "ide": 8050,
    "recording": 2100,
    "report": 1400,
    "server": 4200,
    "source": 6300,
    "wire": 800,
    "tracing": 40900,
    "tracing/search": 11350,
}
"""Lines of a layer, and of the largest folder of one."""
PRIVATE_TORCH = 0
"""Modules that name private parts of torch, outside of their folder."""
BYTECODE = 0
"""Modules that read bytecode or offsets of instructions, outside of their folder and of the recorder."""
CODE_TABLES = 1
"""Tables of problem codes outside of the records: the registry of quick fixes, where a new code need not be."""
OLD_WORDS = 0
"""Names of tests, and of what the editors' sources define, in words that have a better one."""

_TORCH_PRIVATE = ("tracing/isolation/torch_private/", "recording/tensors.py")
_BYTECODE = ("tracing/model/locations/bytecode/", "recording/constructor_calls.py")
_MAY_READ_BYTECODE = re.compile(rf"\b({'|'.join(sorted(NAMES | MODULES))})\b")
_IMPORTS_TORCH = re.compile(r"^\s*(import|from) torch\b", re.MULTILINE)
_ONE_A_FEATURE = re.compile(
    r"__init__|__main__|server/(requests|commands|sync)/|ide/fixes/|tracing/passes/checks/|cli/\w+\.py"
)
_TEST = re.compile(r"\bdef (test_\w+)")
_OLD_IN_TESTS = re.compile(r"_(stands?|told|tells?|is_said|template|callsites?|offspring|nursery)(?=_|$)")
_OLD_IN_EDITORS = re.compile(r"\b(told|heard|GOODBYE)\b(?=\s*[:=(])")


@dataclass(frozen=True)
class Count:
    """A number, its limit, and what was counted."""

    name: str
    number: int
    limit: int
    found: Sequence[str] = field(default=())

    @property
    def is_exceeded(self) -> bool:
        return self.number > self.limit


def counts(sources: Sequence[SourceFile]) -> Iterator[Count]:
    """Yield all counts."""
    yield from _sizes(sources)
    small = sorted(_small_with_one_importer(sources))
    yield Count(f"modules below {SMALL} lines with one importer", len(small), SMALL_MODULES, small)
    private = [each.path for each in sources if _names_private_torch(each)]
    yield Count("modules with private parts of torch", len(private), PRIVATE_TORCH, private)
    bytecode = [each.path for each in sources if _reads_bytecode(each)]
    yield Count("modules that read bytecode", len(bytecode), BYTECODE, bytecode)
    tables = [f"{each.path} {name}" for each in sources for name in _tables_in(each)]
    yield Count("tables of problem codes", len(tables), CODE_TABLES, tables)
    old = sorted(_old_words())
    yield Count("words of the old dialect", len(old), OLD_WORDS, old)


def _sizes(sources: Sequence[SourceFile]) -> Iterator[Count]:
    modules = [each for each in sources if not each.path.endswith("__init__.py")]
    folders = Counter(each.folder for each in modules)
    folder, most = max(folders.items(), key=lambda item: item[1])
    yield Count(f"modules of the fullest folder, {folder}", most, MOST_FILES)
    for name, limit in LAYER_LINES.items():
        yield Count(f"lines of {name}", sum(each.lines for each in sources if each.path.startswith(f"{name}/")), limit)
    long = [f"{each.path} {each.lines}" for each in modules if each.lines > MOST_LINES]
    yield Count(f"modules above {MOST_LINES} lines", len(long), LONG_MODULES, long)


def _small_with_one_importer(sources: Sequence[SourceFile]) -> Iterator[str]:
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for each in sources:
        for name in each.imports:
            importers[name].add(each.path)
    for each in sources:
        name = f"fxlsp.{each.path.removesuffix('.py').replace('/', '.')}"
        if each.lines < SMALL and len(importers[name]) == 1 and not _ONE_A_FEATURE.search(each.path):
            yield each.path


# Texts that cannot have what is counted are passed over: the syntax tree of each takes a while to walk.


def _names_private_torch(source: SourceFile) -> bool:
    if source.path.startswith(_TORCH_PRIVATE) or not _IMPORTS_TORCH.search(source.text):
        return False
    return any(private_uses(source.tree))


def _tables_in(source: SourceFile) -> list[str]:
    may_have = source.path not in RECORDS and ("codes" in source.text or "FX" in source.text)
    return list(code_tables(source.tree)) if may_have else []


def _reads_bytecode(source: SourceFile) -> bool:
    if source.path.startswith(_BYTECODE) or not _MAY_READ_BYTECODE.search(source.text):
        return False
    return any(bytecode_uses(source.tree))


def _old_words() -> Iterator[str]:
    for path in (PROJECT / "tests").rglob("test_*.py"):
        for name in _TEST.findall(path.read_text(encoding="utf-8")):
            if _OLD_IN_TESTS.search(name):
                yield f"{path.relative_to(PROJECT).as_posix()} {name}"
    for path in (PROJECT / "editors" / "vscode" / "src").rglob("*.ts"):
        for word in _OLD_IN_EDITORS.findall(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(PROJECT).as_posix()} {word}"


def unlisted_layers(sources: Sequence[SourceFile]) -> set[str]:
    """Return the folders of the package without a limit of lines."""
    return {each.path.partition("/")[0] for each in sources if "/" in each.path} - LAYER_LINES.keys()
