"""What torch leaves in the temporary folder of a supervisor that is killed goes with the supervisor's own folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.worker import Worker

NET = "from torch import nn\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n"


def test_a_module_that_makes_a_folder_when_it_is_imported_makes_it_in_the_supervisors(
    write: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch.distributed.nn of torch 2.6 does; newer versions do not, with which this test shows nothing."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    worker = Worker()
    try:
        worker.send({"type": "preload", "names": ["torch.distributed.nn"]})
        worker.report(f"{write(NET)}:Net", "Net()", "1")
        own = [name for name in os.listdir(temporary) if not name.startswith(("fxlsp-", "torchinductor"))]
    finally:
        worker.close()
    assert own == []
