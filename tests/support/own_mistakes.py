"""Whether the failure of a model with guessed arguments is its own mistake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fxlsp.tracing.model.diagnosis.own_mistakes import is_own_mistake


def fails_by_itself(text: str, expected: type[BaseException], folder: Path) -> bool:
    """Run ``Net`` of a file on a tensor (2, 4), which raises ``expected``; return whether the code is to blame."""
    path = folder / "model.py"
    path.write_text(text, encoding="utf-8")
    names: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), names)
    model = names["Net"]()
    with pytest.raises(expected) as raised:
        model(names["torch"].zeros(2, 4))
    error = raised.value
    assert error.__traceback__ is not None
    # The first entry is the call above.
    error.__traceback__ = error.__traceback__.tb_next
    return is_own_mistake(error, model, is_given=False)
