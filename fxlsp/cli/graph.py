"""``fxlsp graph``: the graph of one model as a page or an SVG file."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fxlsp.cli.exit_codes import UsageError, exit_code, report_failure
from fxlsp.cli.tracing.jobs import CommandLineJob, trace_job
from fxlsp.cli.tracing.options import add_project_options
from fxlsp.cli.tracing.project import Projects
from fxlsp.cli.tracing.worker_pool import open_pool
from fxlsp.graphview.cache import page_path, write_page
from fxlsp.graphview.editor_links import EDITORS, link_template
from fxlsp.graphview.html import page_of_picture
from fxlsp.graphview.picture import picture_of
from fxlsp.graphview.svg import SvgError, require_engine, svg_of_picture
from fxlsp.report.problems import Failure
from fxlsp.report.report import Report

_EXAMPLES = """\
examples:
  fxlsp graph model.py:Net --open
  fxlsp graph torchvision.models:resnet18 -o resnet18.html
  fxlsp graph model.py:Net --init 'Net(10)' --inputs 'torch.randn(1, 3, 32, 32)' -o net.svg --depth 1

The page is one file that needs no network. SVG needs a further package: pip install 'fxlsp[svg]'.
"""


@dataclass(frozen=True, slots=True)
class GraphOutput:
    """Form and place of the graph that is written."""

    path: Path | None
    """None for a page in the user's cache."""
    link: str
    depth: int | None

    @property
    def is_svg(self) -> bool:
        return self.path is not None and self.path.suffix == ".svg"

    def text_of(self, report: Report) -> str:
        """Return the page or SVG text of a report.

        Raises:
            SvgError: no engine for SVG is installed.
        """
        picture = picture_of(report)
        if self.is_svg:
            return svg_of_picture(picture, depth=self.depth)
        return page_of_picture(picture, link=self.link, depth=self.depth)


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "graph",
        help="draw the graph of one model, as a page or an SVG file",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("target", metavar="TARGET", help="file.py:Name or package.module:Name")
    parser.add_argument("--init", metavar="EXPR", help="the expression that makes the model: 'Net(10, hidden=128)'")
    parser.add_argument("--inputs", metavar="EXPR", help="the arguments of its call, or their sizes: '(1, 3, 32, 32)'")
    parser.add_argument("-o", "--output", metavar="FILE", help=".html or .svg; a page in your cache folder without it")
    parser.add_argument("--open", action="store_true", help="show it in the browser")
    parser.add_argument("--depth", metavar="N", type=int, help="how far modules are open at first, 0 for none")
    parser.add_argument(
        "--link",
        metavar="EDITOR",
        default="vscode",
        help=f"what a click on a node opens: {', '.join(EDITORS)} or an address with {{file}}, {{line}}, {{column}}",
    )
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    output = _output(arguments)
    job = CommandLineJob(arguments.target, arguments.init, arguments.inputs)
    outcome = asyncio.run(_trace(job, Projects(arguments.python, arguments.profile, arguments.tracer)))
    if isinstance(outcome, Failure):
        return report_failure(outcome, "text")
    path = _write(outcome, output)
    sys.stdout.write(f"{path}\n")
    if arguments.open and not webbrowser.open(path.resolve().as_uri()):
        sys.stderr.write("fxlsp: no browser could be opened\n")
    return exit_code(outcome.problems)


def _output(arguments: argparse.Namespace) -> GraphOutput:
    """Return where and how to write the graph.

    Raises:
        UsageError: an option has no meaning; nothing has been traced yet.
    """
    path = None if arguments.output is None else Path(arguments.output)
    if path is not None and path.suffix not in (".html", ".svg"):
        raise UsageError(f"-o takes a file that ends in .html or .svg, not {path}")
    if path is not None and not path.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {path.absolute().parent}")
    if arguments.depth is not None and arguments.depth < 0:
        raise UsageError("--depth takes a number of 0 or more")
    try:
        output = GraphOutput(path, link_template(arguments.link), arguments.depth)
        if output.is_svg:
            require_engine()
    except ValueError as error:
        raise UsageError(f"--link: {error}") from error
    except SvgError as error:
        raise UsageError(str(error)) from error
    return output


async def _trace(job: CommandLineJob, projects: Projects) -> Report | Failure:
    async with open_pool(jobs=1) as traces:
        return await trace_job(job, projects, traces)


def _write(report: Report, output: GraphOutput) -> Path:
    """Write the graph and return its path.

    Raises:
        UsageError: it cannot be made or written.
    """
    try:
        text = output.text_of(report)
        if output.path is None:
            path = page_path(os.path.realpath("."), report.target)
            write_page(path, text)
        else:
            path = output.path
            path.write_text(text, encoding="utf-8")
    except SvgError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"cannot write the graph: {error}") from error
    return path
