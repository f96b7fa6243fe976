"""What a process keeps of files that it loads again and again has a limit."""

from __future__ import annotations

import ast
import gc

from fxlsp.tracing.model.loading import lazy_module
from fxlsp.tracing.model.loading.slicing import ModuleSlicer


def test_slicers_of_texts_that_are_gone_are_not_kept_without_limit() -> None:
    for number in range(2000):
        lazy_module._slicer_of(ast.parse(f"a = {number}"))
    gc.collect()
    assert sum(type(each) is ModuleSlicer for each in gc.get_objects()) < 1000
