"""Overhead of ``fxlsp record`` on training loops: pairs of runs, one of each recorded.

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
for _ in range(int(sys.argv[1])):
    optimizer.zero_grad()
    net(inputs()).float().pow(2).mean().backward()
    optimizer.step()
print(time.process_time() - began)
"""


def seconds(script: Path, steps: int, is_recorded: bool) -> float:
    """Return the processor time of one loop, its imports left out."""
    environment = dict(os.environ)
    if is_recorded:
        options = RecordingOptions(str(script.parent / "recording.json"), str(script.parent))
        environment |= {OPTIONS: options.to_text(), "PYTHONPATH": startup_folder()}
    command = [sys.executable, str(script), str(steps)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(ran.stdout)


def overhead(name: str, pairs: int, steps: int) -> dict[str, float | str]:
    """Return the medians of a model's loops, and of the ratios of the pairs."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "train.py")
        script.write_text(LOOP.format(model=MODELS[name]))
        found = []
        for number in range(pairs):
            # Which of the two comes first alternates: the machine may get warmer or busier.
            order = (False, True) if number % 2 == 0 else (True, False)
            times = {is_recorded: seconds(script, steps, is_recorded) for is_recorded in order}
            found.append((times[False], times[True]))
    ratios = [recorded / plain for plain, recorded in found]
    return {
        "model": name,
        "plain_s": round(statistics.median(plain for plain, _ in found), 3),
        "recorded_s": round(statistics.median(recorded for _, recorded in found), 3),
        "overhead_percent": round((statistics.median(ratios) - 1) * 100, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--steps", type=int, default=60)
    arguments = parser.parse_args()
    for name in MODELS:
        print(json.dumps(overhead(name, arguments.pairs, arguments.steps)), flush=True)


if __name__ == "__main__":
    main()
