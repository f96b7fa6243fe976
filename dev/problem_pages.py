"""Writes the output of fxlsp into the pages of the problem codes.

A page is written by hand but for two parts, which this module writes: the line in italics below the title, which says
the family and the severity, and the block ``console``, whose first line is the command to run on the first example.
The second example is the first one, repaired.

All examples run, and all pages and the index are written: on a machine so busy that torch is not imported within three
minutes, pages show FX906 instead of their own output.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from fxlsp.cli.output.problems import full_lines
from fxlsp.report import codes
from fxlsp.report.code_records import FAMILIES, Severity
from fxlsp.report.problems import Problem

PROJECT = Path(__file__).parents[1]
PAGES = PROJECT / "docs" / "problems"
INDEX = "README.md"

_SEVERITIES: Mapping[Severity, str] = {
    "error": "an error",
    "warning": "a warning",
    "info": "information",
    "hint": "a hint",
}
_TITLE = re.compile(r"# (FX\d{3}): (.+)\n(?:\n\*\[.*\n)?")
_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CONSOLE = re.compile(r"^```console\n\$ fxlsp (.*)\n(?:.*\n)*?```$", re.MULTILINE)
_NAMED = re.compile(r"^(?:\w+\[FX\d{3}\]|fxlsp: .*FX\d{3} |  --> \S+:\d+(?=:\d+$))", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """The page of one code, as it is committed."""

    code: str
    title: str
    text: str
    example: str
    repaired: str
    arguments: str
    """Of ``fxlsp``, for the output of the example."""

    @property
    def options(self) -> str | None:
        """Options of front ends with which ``check`` of the example shows the problem, often none.

        None if another command shows it.
        """
        found = re.fullmatch(rf"check {re.escape(self.file)}((?: --(?:frontends|select) \S+)*)", self.arguments)
        return None if found is None else found[1].strip()

    @property
    def file(self) -> str:
        return f"{self.code}.py"

    @property
    def repaired_file(self) -> str:
        return f"{self.code}_repaired.py"

    def with_output(self, output: str) -> str:
        """Return the page's text with its generated parts renewed."""
        family = FAMILIES[self.code[:3]].title
        severity = _SEVERITIES[codes.severity_of(self.code)]
        head = f"# {self.code}: {self.title}\n\n*[{family}]({INDEX}#{anchor(self.code[:3])}), {severity} by default*\n"
        block = f"```console\n$ fxlsp {self.arguments}\n{output}\n```"
        text = _TITLE.sub(lambda _: head, self.text, count=1)
        return _CONSOLE.sub(lambda _: block, text, count=1)


@dataclass(frozen=True)
class ExampleResults:
    """Problems and outputs of all examples."""

    problems: Mapping[str, Sequence[Problem]]
    """By the file's name."""
    outputs: Mapping[str, str]
    """What the command of the page prints, by code."""
    versions: str
    """Versions of torch and Python that traced: messages contain their wording."""


def read_pages() -> list[Page]:
    """Return all pages, in the order of their codes."""
    return [read_page(path) for path in sorted(PAGES.glob("FX*.md"))]


def read_page(path: Path) -> Page:
    """Return one page.

    Raises:
        ValueError: a part of it is missing.
    """
    text = path.read_text(encoding="utf-8")
    title, console, examples = _TITLE.match(text), _CONSOLE.search(text), _PYTHON.findall(text)
    if title is None or console is None or len(examples) < 2:
        raise ValueError(f"{path.name} needs a title, two blocks of python and one that is '$ fxlsp ...'")
    return Page(title[1], title[2], text, examples[0], examples[1], console[1])


FXLSP = (sys.executable, "-m", "fxlsp")


def run_examples(pages: Sequence[Page], folder: Path, program: Sequence[str] = FXLSP) -> ExampleResults:
    """Write all examples of the pages into ``folder``, and run fxlsp on them.

    Args:
        pages: whose examples are run.
        folder: where they are written, an empty one.
        program: the command that starts fxlsp.
    """
    groups: dict[str, list[Page]] = {}
    for page in pages:
        groups.setdefault(page.options or "", []).append(page)
    asked = [page for page in pages if page.options]
    problems: dict[str, list[Problem]] = {}
    outputs: dict[str, str] = {}
    versions = ""
    for number, (options, group) in enumerate(groups.items()):
        # Apart, since options of one group of examples would find more in those of another.
        examples = folder / f"group{number}"
        examples.mkdir()
        for page in group:
            (examples / page.file).write_text(page.example, encoding="utf-8")
            (examples / page.repaired_file).write_text(page.repaired, encoding="utf-8")
        # What the options leave out is no problem of a repaired example either.
        for page in () if options else asked:
            (examples / page.repaired_file).write_text(page.repaired, encoding="utf-8")
        arguments = ["check", ".", *options.split(), "--format", "json"]
        found = json.loads(_fxlsp([*program, *arguments], examples))
        for problem in map(Problem.from_json, found["problems"]):
            problems.setdefault(_file_of(problem), []).append(problem)
        with _working_in(examples):
            for page in group:
                is_shown = page.options is not None
                shown = problems.get(page.file, ())
                outputs[page.code] = _printed(shown) if is_shown else _command_output(page, examples, program)
        environment = found["environment"]
        minor = [".".join(environment[of].split(".")[:2]) for of in ("torch", "python")]
        versions = f"torch {minor[0]} and CPython {minor[1]}"
    return ExampleResults(problems, outputs, versions)


def _file_of(problem: Problem) -> str:
    path = problem.location.file if problem.location is not None else problem.model.rpartition(":")[0]
    return Path(path).name


def _command_output(page: Page, folder: Path, program: Sequence[str]) -> str:
    return _without_folders(_fxlsp([*program, *shlex.split(page.arguments)], folder), folder)


def _printed(problems: Iterable[Problem]) -> str:
    # The last line is the address of the page itself.
    lines = [line for problem in problems for line in ("", *full_lines(problem)[:-1])]
    return _without_folders("\n".join(lines[1:]), Path.cwd())


def _fxlsp(command: Sequence[str], folder: Path) -> str:
    """Return what the command prints, on standard error if it could not run."""
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "CUDA_VISIBLE_DEVICES": ""}
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return (ran.stdout or ran.stderr).strip("\n")


def _without_folders(text: str, folder: Path) -> str:
    text = text.replace(f"{folder}{os.sep}", "")
    return re.sub(r"[^\s'\"(]*/(site-packages|python3\.\d+)/", "", text)


@contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def rendered(pages: Sequence[Page], results: ExampleResults) -> dict[str, str]:
    """Return the text of every file of the pages, by name."""
    texts = {f"{page.code}.md": page.with_output(results.outputs[page.code]) for page in pages}
    return {INDEX: _index(pages, results.versions), **texts}


def _index(pages: Sequence[Page], versions: str) -> str:
    lines = ["# Problems", "", *_INTRODUCTION.splitlines(), f"in them are those of {versions}.", ""]
    for family, about in FAMILIES.items():
        lines += [f"## {family}xx: {about.title}", "", about.definition, "", "| code | | default |", "|---|---|---|"]
        for page in pages:
            if page.code.startswith(family):
                link = f"[{page.code}]({page.code}.md)"
                lines.append(f"| {link} | {page.title} | {_SEVERITIES[codes.severity_of(page.code)]} |")
        lines.append("")
    return "\n".join(lines)


_INTRODUCTION = """\
Each problem has a code, which never changes its meaning. A comment `# fxlsp: ignore[FX101]` silences a problem; the
settings `severities` and `ignore` choose the severity of a code or a family, or silence it. In the profile `shapes`,
FX1xx, FX2xx, FX3xx and FX402 are hints. FX7xx and FX8xx are those of other front ends than `torch.fx`, reported only
where `fxlsp check --frontends` or `fxlsp trace --frontends` asks for them, or
[an editor](../frontends.md#in-an-editor).

Each page has an example that can be run as it is, and the same example without the problem. The words of torch and
Python"""


def anchor(family: str) -> str:
    """Return the anchor of a family in the index, as GitHub names it."""
    title = re.sub(r"[^\w -]", "", FAMILIES[family].title)
    return f"{family}xx-{title}".lower().replace(" ", "-")


def without_messages(text: str) -> str:
    """Return the text of a page with only codes and lines of its output.

    Python 3.10 has no columns.
    """
    return _CONSOLE.sub(lambda block: "\n".join(_NAMED.findall(block[0])), text)


def main() -> int:
    argparse.ArgumentParser(prog="dev.problem_pages", description="Run all examples and write all pages.").parse_args()
    pages = read_pages()
    with TemporaryDirectory() as folder:
        results = run_examples(pages, Path(folder).resolve())
    for name, text in rendered(pages, results).items():
        (PAGES / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
