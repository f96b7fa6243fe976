"""How many bare model classes the search can make and feed, of those that nothing in their file makes or feeds.

    python -m benchmarks.search FOLDER [--sample N]   a checkout of jansel/pytorch-jit-paritybench, or any other folder

Each class with a ``forward`` is loaded, and its arguments are searched, in a process of its own, as in a trace; what
the file itself says (call sites, TESTCASES) is not looked at. Packages that are not installed are stood for. A class
whose ``forward`` ran inside another one's counts as covered.

Two lines tell the ceiling. ``names resolve``: every global name that the class's code takes is bound in its file,
without packages that are not installed; what it takes by attribute from an imported module, or from a module of the
project that the file stands for, is such a name too. Names in branches that never run count as well: the classes that
run all the same are not in the ceiling, and how many these are is printed. ``can run``: of these, without the classes
that raise whatever they are given (``corpora/impossible.json``, with a reason for each). Such classes come of how the
corpus was made: all modules of a project are in one file, where of several things with one name the last counts. A
class that is found all the same is printed: its entry is wrong, or the search stopped where only data could tell how a
run goes on.

A table shows for each rule of the search for how many failed trials it suggested something, how many suggestions
ran further than what had failed, and in how many results it had a part. ``python -m dev.search_rules`` writes it, from
the file that ``--json`` made, into the documentation.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import signal
import statistics
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.corpora.classes import BareClass, bare_classes, unresolved
from benchmarks.corpora.files import model_files
from benchmarks.corpora.impossible import cannot_run
from benchmarks.corpora.workspace import Workspace
from fxlsp.tracing.processes.worker.warmup import prepare_torch
from fxlsp.tracing.search.rules import RULES, RuleCounts

SECONDS = 20
Answer = dict[str, Any]


def main() -> int:
    options = _options()
    prepare_torch()
    signal.signal(signal.SIGTERM, _end)
    with tempfile.TemporaryDirectory(prefix="fxlsp-search-") as folder:
        workspace = Workspace(Path(folder), SECONDS)
        classes = _chosen(options)
        # Before packages that are not installed are stood for; by files, each of which is parsed once then.
        known = _named if options.rules_only else _facts
        facts = {each: known(each) for each in sorted(classes, key=lambda each: each.file)}
        if os.environ.get("PYTHONPATH", "") != workspace.environment()["PYTHONPATH"]:
            os.environ.update(workspace.environment())
            sys.path[:0] = [str(workspace.packages)]
        # One at a time, so that each knows where it went: copies stand beside each other.
        places = {path: workspace.prepare([path])[0] for path in dict.fromkeys(each.file for each in classes)}
        print(f"{len(classes)} classes", file=sys.stderr)
        answers = []
        with open(options.json or os.devnull, "w", encoding="utf-8", buffering=1) as out:
            for each, found in zip(classes, _answers(classes, places, workspace), strict=True):
                answer = {**facts[each], **found}
                answers.append(answer)
                out.write(json.dumps(answer) + "\n")
                if not options.quiet:
                    print(_line(answer), flush=True)
    print("\n".join(summary(answers)))
    return 0


def _end(*_: object) -> None:
    """End the run so that its folders are removed, also if it is asked again while they are."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.search", description="What the search finds for bare classes.")
    parser.add_argument("folder", help="a folder of model files")
    parser.add_argument("--sample", type=int, metavar="N", help="as many classes, chosen at random")
    parser.add_argument(
        "--files", type=int, metavar="N", help="as many files, chosen at random, with all their classes"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the choice")
    parser.add_argument("--half", choices=["develop", "acceptance", "all"], default="develop", help="of the folder")
    parser.add_argument("--classes", nargs="*", metavar="FILE:Name", help="these alone")
    parser.add_argument("--listed", action="store_true", help="only classes that TESTCASES name")
    parser.add_argument("--quiet", action="store_true", help="the totals alone")
    parser.add_argument("--rules-only", action="store_true", help="without what files say of classes, which takes long")
    parser.add_argument("--json", metavar="OUT", help="write a line of JSON for each class")
    return parser.parse_args()


def _chosen(options: argparse.Namespace) -> list[BareClass]:
    paths = model_files(options.folder, options.half)
    if options.classes:
        paths = [path for path in paths if any(name.partition(":")[0] in path for name in options.classes)]
        classes = [each for path in paths for each in bare_classes(path)]
        wanted = tuple(options.classes)
        return [each for each in classes if f"{Path(each.file).name}:{each.name}".endswith(wanted)]
    if options.files:
        paths = random.Random(options.seed).sample(paths, min(options.files, len(paths)))
    classes = [each for path in paths for each in bare_classes(path) if each.listed or not options.listed]
    if options.sample:
        classes = random.Random(options.seed).sample(classes, min(options.sample, len(classes)))
    return classes


def _named(each: BareClass) -> Answer:
    """What a class is called."""
    return {"file": Path(each.file).name, "name": each.name, "listed": each.listed}


def _facts(each: BareClass) -> Answer:
    """What the text of its file says of a class."""
    return {**_named(each), "unresolved": unresolved(each), "impossible": cannot_run(each.file, each.name)}


def _answers(classes: Sequence[BareClass], places: Mapping[str, str], workspace: Workspace) -> Iterator[Answer]:
    """One process for each class, forked from one that has done a small trace, as the tracing process does."""
    gc.collect()
    gc.freeze()
    for each in classes:
        # A process that is ended leaves its folder behind.
        with tempfile.TemporaryDirectory(prefix="fxlsp-search-", ignore_cleanup_errors=True) as scratch:
            yield _answered(replace(each, file=places[each.file]), str(workspace.files), scratch)


def _answered(each: BareClass, root: str, scratch: str) -> Answer:
    """What a process of its own says of one class."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        try:
            answer = _searched(each, root, scratch)
        except BaseException as error:
            answer = {"status": "crashed", "reason": "".join(traceback.format_exception(error))[-1500:]}
        os.write(writer, json.dumps(answer).encode())
        os.kill(os.getpid(), signal.SIGKILL)
    os.close(writer)
    data, deadline = b"", time.monotonic() + SECONDS
    with os.fdopen(reader, "rb") as pipe:
        os.set_blocking(reader, False)
        while time.monotonic() < deadline:
            more = pipe.read()
            if more == b"":
                break
            data += more or b""
            time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return json.loads(data) if data else {"status": "died", "reason": "it ended early, or took too long"}


def _searched(each: BareClass, root: str, scratch: str) -> Answer:
    import torch

    from fxlsp.tracing.isolation.sandbox.audit import refuse_side_effects
    from fxlsp.tracing.isolation.torch_private import compile_in_process
    from fxlsp.tracing.model.building.builder import Builder, FakesFailedError, NoModelError
    from fxlsp.tracing.model.building.fake_tensors import new_fake_mode
    from fxlsp.tracing.model.loading.loader import Loader
    from fxlsp.tracing.model.locations.expressions import Expressions
    from fxlsp.tracing.model.locations.source_map import SourceMap
    from fxlsp.tracing.model.locations.sources import Sources
    from fxlsp.tracing.model.targets import ModelTarget
    from fxlsp.tracing.search.trials.runner import RunConditions

    torch.set_num_threads(1)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    gc.disable()
    compile_in_process()
    refuse_side_effects(scratch)
    sources = Sources({})
    expressions = Expressions(sources)
    places = SourceMap(sources, expressions)
    target = ModelTarget(each.file, None, each.name, None, None, None)
    loader = Loader(sources, expressions, [root])

    def attempted(real_tensors: bool) -> Answer:
        mode = new_fake_mode()
        builder = Builder(target, loader, places, mode, real_tensors)
        try:
            return _found(each, builder, target, RunConditions(mode, places, real_tensors))
        except NoModelError as error:
            return {"status": "not loaded", "reason": str(error)[:300]}

    try:
        return attempted(real_tensors=False)
    except FakesFailedError:
        # As a trace does.
        loader.unload()
        return attempted(real_tensors=True)


def _found(each: BareClass, builder: Any, target: Any, under: Any) -> Answer:
    """What a search finds for a class that is made with or without data.

    Raises:
        NoModelError: its file cannot be loaded.
        FakesFailedError: without data, it cannot be made.
    """
    import torch

    from fxlsp.tracing.model.building.builder import NoModelError
    from fxlsp.tracing.model.building.evaluation import find_target
    from fxlsp.tracing.search.api import RecipeSearch

    start = time.perf_counter()
    loaded = builder.load()
    module = loaded.module
    load_ms = (time.perf_counter() - start) * 1000
    cls = find_target(module, each.name)
    if not (isinstance(cls, type) and issubclass(cls, torch.nn.Module)):
        return {"status": "no module"}
    lacking = RecipeSearch(target, loaded, under)
    if _is_made_by_default(cls, each.name):
        try:
            builder.build(loaded)
        except NoModelError as error:
            if error.__cause__ is None or not lacking.lacks(error.__cause__):
                # A trace searches no other arguments for it then: what is wrong with its own is to be reported.
                return {"status": "not made", "reason": str(error)[:300]}
    with _classes_noted(module) as ran:
        start_of_search = time.process_time()
        found = lacking.found(None)
        ms = (time.process_time() - start_of_search) * 1000
    runs = found.inputs is not None and not found.fails
    answer: Answer = {
        "status": "fails" if found.fails else "found" if runs else "made" if found.init is not None else "not made",
        "init": found.init,
        "inputs": found.inputs,
        "tries": found.tries,
        "work": found.work,
        "ms": round(ms, 1),
        "load_ms": round(load_ms, 1),
        "rules": {name: [each.calls, each.further, each.finds] for name, each in found.rules.items()},
    }
    if not runs and found.error is not None:
        answer["reason"] = f"{type(found.error).__name__}: {found.error}"[:300]
        answer["where"] = "".join(traceback.format_exception(found.error)[-4:])[-900:]
    if runs:
        answer["ran"] = sorted(ran)
    return answer


def _is_made_by_default(cls: Any, name: str) -> bool:
    """Whether it needs no arguments."""
    from fxlsp.tracing.model.building.evaluation import UnusableRecipeError, default_init

    try:
        default_init(cls, name)
    except UnusableRecipeError as error:
        return not error.needs
    return True


@contextmanager
def _classes_noted(module: Any) -> Iterator[set[str]]:
    """The classes of ``module`` whose ``forward`` runs to its end, in whatever model."""
    import torch

    ran: set[str] = set()
    original: Any = torch.nn.Module.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        owner = next((cls for cls in type(self).__mro__ if "forward" in vars(cls)), torch.nn.Module)
        if owner.__module__ == module.__name__:
            ran.add(owner.__name__)
        return result

    torch.nn.Module.__call__ = call  # type: ignore[method-assign]
    try:
        yield ran
    finally:
        torch.nn.Module.__call__ = original  # type: ignore[method-assign]


def _line(answer: Answer) -> str:
    made = f"{answer.get('init')} ({answer.get('inputs')})"
    what = made if answer["status"] == "found" else f"{answer.get('init') or ''} {answer.get('reason', '')}"
    cost = f"{answer.get('tries', 0):4} tries {answer.get('ms', 0):7.1f} ms"
    return f"{answer['status']:10} {cost}  {answer['file']}:{answer['name']}  {' '.join(what.split())[:240]}"


def summary(answers: Sequence[Answer]) -> Iterator[str]:
    """Totals, medians, and the most frequent reasons."""
    covered = {(answer["file"], name) for answer in answers for name in answer.get("ran", ())}
    for answer in answers:
        answer["ok"] = answer["status"] == "found" or (answer["file"], answer["name"]) in covered
    groups = {"all": answers, "in TESTCASES": [answer for answer in answers if answer["listed"]]}
    has_facts = all("unresolved" in answer for answer in answers)
    if has_facts:
        resolved = [each for each in answers if each["unresolved"] is None and each["status"] != "no module"]
        groups["names resolve"] = resolved
        groups["can run"] = [answer for answer in resolved if answer["impossible"] is None]
    for label, chosen in groups.items():
        count = max(len(chosen), 1)
        kinds = Counter(
            "found" if answer["status"] == "found" else "covered" if answer["ok"] else answer["status"]
            for answer in chosen
        )
        good = sum(answer["ok"] for answer in chosen)
        parts = ", ".join(f"{name} {number}" for name, number in kinds.most_common())
        yield f"{label:14} {len(chosen):6} classes, {100 * good / count:5.1f} % found or covered: {parts}"
    for label, chosen in (
        ("found", [answer for answer in answers if answer["status"] == "found"]),
        ("searched", [answer for answer in answers if "ms" in answer]),
    ):
        if chosen:
            times = sorted(answer["ms"] for answer in chosen)
            tries = sorted(answer["tries"] for answer in chosen)
            work = sorted(answer["work"] for answer in chosen)
            yield (
                f"{label:14} median {statistics.median(times):.0f} ms, {statistics.median(tries):.0f} tries, "
                f"{statistics.median(work):.0f} calls; nine in ten within {times[len(times) * 9 // 10]:.0f} ms, "
                f"{tries[len(tries) * 9 // 10]} tries, {work[len(work) * 9 // 10]} calls"
            )
    if has_facts:
        yield from _mistaken_facts(answers)
    yield from rule_table(rule_counts(answers))
    reasons = Counter(_reason(answer) for answer in answers if not answer["ok"])
    for reason, number in reasons.most_common(25):
        yield f"{number:6}  {reason}"


def _mistaken_facts(answers: Sequence[Answer]) -> Iterator[str]:
    """Yield the classes that run although their files say that they cannot."""
    beyond = sum(answer["ok"] and answer["unresolved"] is not None for answer in answers)
    yield f"{beyond} run although a name that they mention is not there: they are in none of the two ceilings"
    for answer in answers:
        if answer["ok"] and answer["impossible"] is not None:
            yield f"runs all the same: {answer['file']}:{answer['name']}, although {answer['impossible']}"


def rule_counts(answers: Iterable[Answer]) -> dict[str, RuleCounts]:
    """How often each rule suggested something, led further and had a part in what was found, over all classes."""
    counts: dict[str, RuleCounts] = {}
    for answer in answers:
        for name, (calls, further, finds) in answer.get("rules", {}).items():
            counts.setdefault(name, RuleCounts()).add(RuleCounts(calls, further, finds))
    return counts


def rule_table(counts: Mapping[str, RuleCounts]) -> Iterator[str]:
    """A line for each rule and each way to begin, those that find most first; those that were never called too."""
    every = {**{name: RuleCounts() for name in RULES}, **counts}
    yield f"{'calls':>6} {'further':>7} {'finds':>6}  rule"
    for name, each in sorted(every.items(), key=lambda item: (-item[1].finds, -item[1].further, item[0])):
        yield f"{each.calls:6} {each.further:7} {each.finds:6}  {name}"


def _reason(answer: Answer) -> str:
    words = " ".join(str(answer.get("reason", "")).split())[:70]
    return f"{answer['status']}: " + "".join("#" if letter.isdigit() else letter for letter in words)


if __name__ == "__main__":
    sys.exit(main())
