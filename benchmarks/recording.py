"""Overhead of ``fxlsp record`` on training loops: pairs of runs, one of each recorded.

Times of a pair differ by more than what is measured; the number of calls of functions in a step does not differ at all.
It shows how many steps cost more than without a recording, and whether later ones cost the same.

``python -m benchmarks.recording [--pairs N] [--steps N]``
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Literal

from fxlsp.recording.session import OPTIONS, RecordingOptions, startup_folder

MODELS = {
    "resnet": """
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU())
    def forward(self, x):
        return x + self.body(x)
class Net(nn.Module):
    def __init__(self, width=32, depth=8):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return x.mean((2, 3))
make, inputs = Net, lambda: torch.randn(8, 3, 32, 32)
""",
    "gpt": """
class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(width), nn.MultiheadAttention(width, heads, batch_first=True)
        layers = nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        self.mlp = nn.Sequential(nn.LayerNorm(width), *layers)
    def forward(self, x):
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(x)
class Net(nn.Module):
    def __init__(self, width=128, heads=4, depth=4):
        super().__init__()
        self.embedding = nn.Embedding(100, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
    def forward(self, tokens):
        return self.blocks(self.embedding(tokens))
make, inputs = Net, lambda: torch.randint(0, 100, (8, 64))
""",
    "lstm": """
class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.lstm, self.head = nn.LSTM(width, width, 2, batch_first=True), nn.Linear(width, 10)
    def forward(self, x, state=None):
        x, state = self.lstm(x, state)
        return self.head(x)
make, inputs = Net, lambda: torch.randn(8, 50, 64)
""",
}

LOOP = """
import sys, time
import torch
from torch import nn
{model}
torch.set_num_threads(1)
began = time.process_time()
net = make()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

def step():
    optimizer.zero_grad()
    net(inputs()).float().pow(2).mean().backward()
    optimizer.step()

def calls():
    found = 0
    def count(frame, event, argument):
        nonlocal found
        found += event in ("call", "c_call")
    sys.setprofile(count)
    step()
    sys.setprofile(None)
    return found

steps = range(int(sys.argv[2]))
if sys.argv[1] == "calls":
    print([calls() for _ in steps])
else:
    for _ in steps:
        step()
    print(time.process_time() - began)
"""


def measured(script: Path, what: Literal["seconds", "calls"], steps: int, *, is_recorded: bool) -> Any:
    """Return the processor time of one loop, its imports left out, or the calls of functions in each of its steps."""
    environment = dict(os.environ)
    if is_recorded:
        options = RecordingOptions(str(script.parent / "recording.json"), str(script.parent))
        environment |= {OPTIONS: options.to_text(), "PYTHONPATH": startup_folder()}
    command = [sys.executable, str(script), what, str(steps)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


def overhead(script: Path, pairs: int, steps: int) -> dict[str, float]:
    """Return the medians of a model's loops, and of the ratios of the pairs."""
    found = []
    for number in range(pairs):
        # Which of the two comes first alternates: the machine may get warmer or busier.
        order = (False, True) if number % 2 == 0 else (True, False)
        times = {is_recorded: measured(script, "seconds", steps, is_recorded=is_recorded) for is_recorded in order}
        found.append((times[False], times[True]))
    ratios = [recorded / plain for plain, recorded in found]
    return {
        "plain_s": round(statistics.median(plain for plain, _ in found), 3),
        "recorded_s": round(statistics.median(recorded for _, recorded in found), 3),
        "overhead_percent": round((statistics.median(ratios) - 1) * 100, 2),
    }


def more_calls(script: Path, steps: int) -> dict[str, int]:
    """Return how many steps have more calls of functions with a recording, and how many more."""
    plain, recorded = (measured(script, "calls", steps, is_recorded=each) for each in (False, True))
    more = [ours - theirs for ours, theirs in zip(recorded, plain, strict=True)]
    return {
        "calls_of_a_step": plain[-1],
        "steps_with_more": sum(each > 0 for each in more),
        "most_more": max(more),
        "more_in_the_last": more[-1],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--steps", type=int, default=60)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "train.py")
        for name, model in MODELS.items():
            script.write_text(LOOP.format(model=model))
            steps = arguments.steps
            row = {"model": name, **more_calls(script, steps), **overhead(script, arguments.pairs, steps)}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
