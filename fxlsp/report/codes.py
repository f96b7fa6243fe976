"""The problem codes that exist, and what each means. Codes are public and never change their meaning."""

from __future__ import annotations

CONTROL_FLOW = "FX101"
"""A traced value decides ``if``, ``while``, ``assert``, ``and``/``or``/``not`` or a comparison chain."""
ITERATION = "FX102"
"""A traced value is iterated, unpacked with a star or passed as ``*args``/``**kwargs``."""
UNTRACEABLE = "FX199"
"""``torch.fx.symbolic_trace`` raises here for any other reason."""

UNREGISTERED_MODULE = "FX201"
"""A module is called that is not registered under the root module."""

OPERATION_FAILS = "FX401"
"""The graph was recorded, but this operation raises when it runs (shape, dtype, device or value)."""

NOT_LOADED = "FX901"
"""The file does not parse, import or execute."""
NOT_FOUND = "FX902"
"""The file was loaded, but has no such class, factory or instance."""
NOT_BUILT = "FX903"
"""The model could not be constructed."""
NOT_FED = "FX904"
"""The model was constructed and traced, but its inputs are unknown or could not be made."""
DIED = "FX905"
"""The process that traced the model crashed, exited or was ended at a limit."""
NO_INTERPRETER = "FX906"
"""There is no interpreter to trace with, or it lacks torch or has one that is too old."""
BAD_RECIPE = "FX907"
"""A ``# fxlsp:`` comment or a configured recipe is not one Python expression that makes a model."""
