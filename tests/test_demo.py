"""The README's first command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]


@pytest.mark.torchvision
def test_the_demo_shows_what_an_editor_would_show() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "dev.demo"], cwd=PROJECT, capture_output=True, text=True, check=False, timeout=300
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = [line.strip() for line in ran.stdout.splitlines()]
    assert any(line.startswith("71 nodes") for line in lines)
    assert "[56 nodes · 700 K parameters · 219 MFLOPs · traceable]" in lines
    assert any(line.startswith("50 ") and line.endswith("x = torch.flatten(x, 1)  ‹(1, 128)›") for line in lines)
    assert "╭─ hover on self.decoder(fine, coarse)" in lines
    assert any(line.startswith("warning FX101") for line in lines)
    assert "│ (nothing)" not in lines
