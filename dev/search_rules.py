"""Writes the table of the search's rules into docs/design/search.md.

``python -m dev.search_rules [JSON]``: JSON is what ``python -m benchmarks.search FOLDER --json JSON`` wrote, from
which the counters are taken. Without it the rules are printed with their summaries.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.search import rule_counts
from fxlsp.tracing.search.rules import RULES, RuleCounts
from fxlsp.tracing.search.rules.registry import ordered

PAGE = Path(__file__).parents[1] / "docs" / "design" / "search.md"
BEGIN, END = "<!-- rules -->\n", "<!-- end rules -->\n"


def main() -> int:
    if len(sys.argv) < 2:
        print("\n".join(table({})))
        return 0
    with open(sys.argv[1], encoding="utf-8") as file:
        answers = [json.loads(line) for line in file]
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    classes = f"Counted over {len(answers)} classes of the development half.\n\n"
    lines = "\n".join(table(rule_counts(answers)))
    PAGE.write_text(f"{before}{BEGIN}{classes}{lines}\n{END}{after}", encoding="utf-8")
    return 0


def table(counts: Mapping[str, RuleCounts]) -> Iterator[str]:
    """Yield the rules as Markdown, in the order in which they are tried.

    The sources of first trials follow.
    """
    yield "| stage | rule | what it does | calls | further | finds |"
    yield "|---|---|---|---|---|---|"
    for stage, rules in ordered().items():
        for each in rules:
            yield _row(stage, each.name, each.summary, counts.get(each.name, RuleCounts()))
    for name in sorted(counts.keys() - RULES.keys()):
        yield _row("", name, "Begin elsewhere.", counts[name])


def _row(stage: str, name: str, summary: str, counts: RuleCounts) -> str:
    return f"| {stage} | {name} | {summary} | {counts.calls} | {counts.further} | {counts.finds} |"


if __name__ == "__main__":
    sys.exit(main())
