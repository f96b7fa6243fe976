"""Sizes as expressions, against runs of the same graph at sizes that were never used to find them.

``python -m benchmarks.symbolic`` traces torchvision's classification models and some of other kinds. The expressions
of each are evaluated for five sets of sizes, and compared with what the nodes have there. Beside each model are its
free sizes, the share of nodes that are right in all sets, the dimensions that vary and stayed numbers, and the
processor time of the expressions beside that of the values of the graph, both of this run.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from fxlsp.tracing.model.building.fake_tensors import fake_construction, make_init_skippable, new_fake_mode
from fxlsp.tracing.model.capture.interpreter import ValueInterpreter
from fxlsp.tracing.model.capture.tracer import ModulePathTracer
from fxlsp.tracing.model.locations.expressions import Expressions
from fxlsp.tracing.model.locations.source_map import SourceMap
from fxlsp.tracing.model.locations.sources import Sources
from fxlsp.tracing.passes.symbolic.axes import AxisGroup, InputAxes
from fxlsp.tracing.passes.symbolic.free_sizes import FreeSizes
from fxlsp.tracing.passes.symbolic.graph_runs import GraphRuns, RunSizes, sizes_in
from fxlsp.tracing.passes.symbolic.names import names_of
from fxlsp.tracing.passes.symbolic.sizes import Dims, deadline, fitted_shapes, seconds_for

SETS = 5
_MOST_TRIES = 40


@dataclass(frozen=True)
class Case:
    """Model, with the inputs that it is traced on."""

    name: str
    make: Callable[[], nn.Module]
    inputs: Callable[[], dict[str, torch.Tensor]]


@dataclass(frozen=True)
class Score:
    """What the expressions of one model are worth."""

    nodes: int
    compared: int
    """Nodes with a tensor, once for each set of sizes."""
    right: int
    wrong: int
    """Those of which an expression is wrong."""
    sets: int
    symbols: tuple[str, ...]
    seconds: float
    """Processor time of the expressions."""
    seconds_of_values: float


class Attention(nn.Module):
    def __init__(self, width: int = 64, heads: int = 4) -> None:
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        B, T, C = x.shape  # noqa: N806
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        y: torch.Tensor = (q @ k.transpose(-2, -1)).softmax(-1) @ v
        projected: torch.Tensor = self.out(y.transpose(1, 2).reshape(B, T, C))
        return projected


class Encoder(nn.Module):
    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        self.table, self.positions = nn.Embedding(100, 64), nn.Parameter(torch.zeros(1, 128, 64))
        self.layers = nn.ModuleList(Attention() for _ in range(layers))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        b, t = tokens.size()
        x: torch.Tensor = self.table(tokens) + self.positions[:, :t]
        for layer in self.layers:
            x = x + layer(x)
        return x.view(b * t, -1)


class Unet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.pool, self.up, self.last = nn.MaxPool2d(2), nn.ConvTranspose2d(16, 8, 2, 2), nn.Conv2d(16, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = self.first(x)
        return self.last(torch.cat([wide, self.up(self.second(self.pool(wide)))], 1))  # type: ignore[no-any-return]


class Pyramid(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList(nn.Conv2d(3 if index == 0 else 8, 8, 3, 2, 1) for index in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        maps = []
        for layer in self.down:
            x = layer(x)
            maps.append(x.flatten(2))
        return torch.cat(maps, 2)


class Patches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(192, 32)

    def forward(self, img: torch.Tensor) -> torch.Tensor:
        B, C, H, W = img.shape  # noqa: N806
        x = img.reshape(B, C, H // 8, 8, W // 8, 8).permute(0, 2, 4, 1, 3, 5)
        return self.inner(x.reshape(B, (H // 8) * (W // 8), C * 64))  # type: ignore[no-any-return]


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.head = nn.LSTM(32, 64, 2, batch_first=True, bidirectional=True), nn.Linear(128, 7)

    def forward(self, x: torch.Tensor) -> Any:
        y, (hidden, _) = self.rnn(x)
        return self.head(y[:, -1]), hidden


def _wave() -> nn.Module:
    layers = (nn.Conv1d(8, 16, 7, stride=3, padding=2), nn.AvgPool1d(4), nn.Conv1d(16, 32, 5, dilation=2))
    return nn.Sequential(*layers, nn.AdaptiveAvgPool1d(1), nn.Flatten())


def _generator() -> nn.Module:
    up = (nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(32, 3, 4, 2, 1))
    return nn.Sequential(nn.Linear(10, 1024), nn.Unflatten(1, (64, 4, 4)), *up)


def _inputs(name: str, *shape: int) -> Callable[[], dict[str, torch.Tensor]]:
    return lambda: {name: torch.randn(*shape)}


def own_cases() -> Iterator[Case]:
    """Yield models of other kinds than torchvision's."""
    yield Case("encoder", Encoder, lambda: {"tokens": torch.randint(0, 9, (2, 128))})
    yield Case("attention", Attention, _inputs("x", 2, 10, 64))
    yield Case("unet", Unet, _inputs("x", 2, 3, 64, 64))
    yield Case("pyramid", Pyramid, _inputs("x", 2, 3, 64, 64))
    yield Case("patches", Patches, _inputs("img", 2, 3, 32, 64))
    yield Case("recurrent", Recurrent, _inputs("x", 4, 16, 32))
    yield Case("wave", _wave, _inputs("input", 2, 8, 200))
    yield Case("generator", _generator, _inputs("input", 2, 10))


def torchvision_cases() -> Iterator[Case]:
    """Yield torchvision's classification models, quantised ones left out."""
    import torchvision

    for name in torchvision.models.list_models(module=torchvision.models):
        edge = 299 if name == "inception_v3" else 224
        make = lambda name=name: torchvision.models.get_model(name, weights=None)  # noqa: E731
        yield Case(name, make, _inputs("x", 2, 3, edge, edge))


def scored(case: Case) -> Score:
    """Return how right the expressions of a model are."""
    mode = new_fake_mode()
    with fake_construction(mode):
        model, inputs = case.make(), case.inputs()
    sources = Sources({})
    tracer = ModulePathTracer(SourceMap(sources, Expressions(sources)))
    nodes = list(tracer.trace(model).nodes)
    start = time.process_time()
    values = ValueInterpreter(model, tracer, mode)
    values.run_on(dict(inputs))
    after_values = time.process_time()
    base = [sizes_in(values.values[node].shown) for node in nodes]
    is_spent = deadline(seconds_for(len(nodes)))
    axes, runs = InputAxes(inputs, mode), GraphRuns(model, nodes, mode)
    free = FreeSizes(axes, lambda sizes: runs.run(axes.inputs_at(sizes), is_spent), is_spent)
    shapes: Mapping[torch.fx.Node, tuple[Dims, ...]] = {}
    names: dict[AxisGroup, str] = {}
    if free.find():
        names = names_of(model, axes, free.groups)
        shapes = fitted_shapes(model, nodes, names, base, free.runs()) or {}
    seconds = time.process_time() - after_values
    used = {group for group, name in names.items() if shapes}
    compared = right = wrong = sets = 0
    for sizes, run in _unseen(axes, runs, free, used):
        sets += 1
        symbols = {names[group]: size for group, size in sizes.items()}
        for node, seen in zip(nodes, run, strict=True):
            if seen.shapes:
                is_right, is_wrong = _compared(shapes.get(node, ()), seen.shapes, symbols)
                compared, right, wrong = compared + 1, right + is_right, wrong + is_wrong
    found = tuple(f"{names[group]} = {group.size}" for group in used)
    return Score(len(nodes), compared, right, wrong, sets, found, seconds, after_values - start)


def _unseen(
    axes: InputAxes, runs: GraphRuns, free: FreeSizes, used: set[AxisGroup]
) -> Iterator[tuple[dict[AxisGroup, int], RunSizes]]:
    """Yield sizes that no run of the search had, with which the model runs."""
    chance = random.Random(3)
    known = [sizes for sizes, _ in free.runs()] if used else []
    found = 0
    for _ in range(_MOST_TRIES if used else 0):
        sizes = {group: _other_size(group, known, chance) for group in sorted(used, key=lambda each: each.ordinal)}
        run = runs.run(axes.inputs_at(sizes), lambda: False)
        if run is not None:
            yield sizes, run
            found += 1
        if found == SETS:
            return


def _other_size(group: AxisGroup, known: list[dict[AxisGroup, int]], chance: random.Random) -> int:
    seen = {group.size, *(sizes[group] for sizes in known)}
    if group.is_batch:
        return chance.choice([size for size in range(2, 20) if size not in seen])
    step = next(power for power in (32, 16, 8, 4, 2, 1) if all((size - group.size) % power == 0 for size in seen))
    largest = group.size if max(seen) == group.size else 2 * max(seen)
    return chance.choice([size for size in range(group.size % step or step, largest, step) if size not in seen])


def _compared(
    shapes: tuple[Dims, ...], seen: tuple[tuple[int, ...], ...], symbols: Mapping[str, int]
) -> tuple[bool, bool]:
    """Return whether all dimensions of a node are right, and whether an expression of one is wrong."""
    if [len(shape) for shape in shapes] != [len(shape) for shape in seen]:
        return False, False
    pairs = [pair for shape, sizes in zip(shapes, seen, strict=True) for pair in zip(shape, sizes, strict=True)]
    is_right = all((eval(dim, {}, dict(symbols)) if isinstance(dim, str) else dim) == size for dim, size in pairs)
    is_wrong = any(isinstance(dim, str) and eval(dim, {}, dict(symbols)) != size for dim, size in pairs)
    return is_right, is_wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of the names of models; all by default")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    make_init_skippable()
    scores = []
    for case in (*own_cases(), *torchvision_cases()):
        if arguments.names and not any(name in case.name for name in arguments.names):
            continue
        score = scored(case)
        scores.append(score)
        share = f"{100 * score.right / score.compared:6.2f} %" if score.compared else "   none"
        cost = f"{1000 * score.seconds:6.0f} ms, {score.seconds / score.seconds_of_values:4.1f} times the values"
        print(
            f"{case.name:24} {score.nodes:5} nodes {share} right, {score.wrong} wrong, {score.sets} sets, {cost}; "
            + ", ".join(score.symbols),
            flush=True,
        )
    compared, right = sum(score.compared for score in scores), sum(score.right for score in scores)
    wrong = sum(score.wrong for score in scores)
    ratio = statistics.median(score.seconds / score.seconds_of_values for score in scores)
    print(
        f"{len(scores)} models, {sum(bool(score.symbols) for score in scores)} with symbols: of {compared} nodes in "
        f"all sets {100 * right / max(compared, 1):.2f} % are right and {wrong} wrong; median cost {ratio:.1f} "
        "times the values of the graph"
    )


if __name__ == "__main__":
    main()
