"""Problem codes with their meaning and severity; a code never changes its meaning."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Severity = Literal["error", "warning", "info", "hint"]

CONTROL_FLOW = "FX101"
"""A traced value decides ``if``, ``while``, ``assert``, ``and``/``or``/``not``, ``in`` or a comparison chain."""
ITERATION = "FX102"
"""A traced value is iterated, unpacked with a star or passed as ``*args``/``**kwargs``."""
LENGTH = "FX103"
"""``len`` or ``reversed`` of a traced value."""
CONVERSION = "FX104"
"""``int``, ``float``, ``complex`` or ``round`` of a traced value."""
INDEX = "FX105"
"""A traced value is an index or slice of a Python sequence, the key of a dict, or an argument of ``range``."""
FACTORY = "FX106"
"""A function that makes a tensor or a size meets a traced value where it takes Python numbers alone."""
ITEM_ASSIGNMENT = "FX107"
"""An item of a traced value is assigned or deleted."""
FOREIGN_FUNCTION = "FX108"
"""A traced value is given to numpy or another function that is not torch's."""
COMPILED = "FX109"
"""A scripted or compiled function or module is called."""
TRANSFORM = "FX110"
"""A function transform (``torch.vmap``, ``torch.func.grad``) or a higher-order operator (``torch.cond``)."""
UNSUPPORTED = "FX111"
"""An argument or the output is of a type that a graph cannot hold."""
NOT_ENTERED = "FX112"
"""``forward`` is never entered: its decorators, its signature or the root's own type are in the way."""
UNTRACEABLE = "FX199"
"""``torch.fx.symbolic_trace`` raises here for any other reason."""

UNREGISTERED_MODULE = "FX201"
"""A module is called that is not registered under the root module."""
UNREGISTERED_PARAMETER = "FX202"
"""A parameter is used that is not registered under the root module."""
MADE_IN_FORWARD = "FX203"
"""A module is made, or registered, while ``forward`` runs."""
AMBIGUOUS_PATH = "FX204"
"""A module with state is called through another of its names than the path that FX gives it."""
TIED_PARAMETER = "FX205"
"""A parameter has several names, and FX records the first whichever was used."""
CALLED_AGAIN = "FX206"
"""A module with parameters or buffers is called several times: all its calls have one path."""
MISLEADING_NAME = "FX207"
"""The name of a node reads as the path of another module."""

TYPE_TEST = "FX301"
"""A test of a value's type, attributes or callability sees torch.fx's proxy and answers otherwise than for a tensor."""
OPTIONAL_INPUT = "FX302"
"""An optional input is compared with None: the graph holds the other branch whatever is passed."""
TEXT_OF_PROXY = "FX303"
"""The text of a proxy is used as data."""
MODE_BAKED = "FX304"
"""The graph holds one mode: ``train()`` and ``eval()`` have no effect on it here."""
STATE_BAKED = "FX305"
"""Python state changes while ``forward`` runs: the graph holds its value at the time of tracing."""
BUFFER_UPDATE = "FX306"
"""A buffer is updated once, while tracing, and never by the graph."""
PROXY_KEPT = "FX307"
"""A traced value is stored outside ``forward``: the graph does not store it."""
CONSTANT = "FX308"
"""A tensor becomes a constant of the graph though it can change."""
RANDOM = "FX309"
"""A random number, or the time, is drawn once, while tracing."""
CONTEXT_DROPPED = "FX310"
"""A context manager or a setting (``no_grad``, ``autocast``, ``manual_seed``) has no effect in the graph."""
CUSTOM_BACKWARD = "FX311"
"""An ``autograd.Function`` is traced through: its backward is lost."""
CHECKPOINT = "FX312"
"""Activation checkpointing vanishes from the graph."""
HOOK_DROPPED = "FX313"
"""A hook, a parametrisation or an instance's own ``forward`` of the root is not in the graph."""
SWALLOWED = "FX314"
"""The model catches torch.fx's own error and goes another way than it does when it runs."""
LEAF_BYPASSED = "FX315"
"""``module.forward(...)`` is called instead of the module: no call is recorded, and no path of its own."""
LEAF_EXPECTED = "FX316"
"""A subclass of a module of torch.nn is traced through, unlike that module itself."""
HIDDEN_MODEL = "FX317"
"""A wrapper is one node, and the model behind it is hidden."""
VARIADIC_INPUT = "FX318"
"""``*args`` or ``**kwargs`` of the root are one input of the graph."""
TENSOR_ATTRIBUTE = "FX319"
"""An attribute of a traced tensor, such as ``data``, is assigned: only its proxy has it."""
GRAPH_DIFFERS = "FX399"
"""The graph does something else than the model when it runs, for any other reason."""

OPERATION_FAILS = "FX401"
"""This operation raises when it runs (shape, dtype, device or value)."""
GRAPH_FAILS = "FX402"
"""The model runs, but what was recorded here fails when the graph runs."""

CODE_FAILS = "FX403"
"""The model's own code raises here whatever it is given: a name, an attribute or a call that cannot be right."""

MODULE_NEVER_CALLED = "FX501"
"""A module of the model is never called."""
PARAMETER_NEVER_USED = "FX502"
"""A parameter of the model is never used."""

MODULES_NOT_REGISTERED = "FX601"
"""An attribute holds modules in a Python list, tuple or dict, and nothing registers them."""
PARAMETER_NOT_REGISTERED = "FX602"
"""A plain tensor, or a list or dict of parameters, is meant to be trained, and is no parameter of the model."""
NOTHING_RETURNED = "FX603"
"""A ``forward`` ends without returning what it computed, or returns a module instead of its result."""
LOCAL_INSTEAD_OF_ATTRIBUTE = "FX604"
"""A constructor assigns an unused local variable, and the attribute of that name is read and does not exist."""
NOT_INITIALISED = "FX605"
"""``super().__init__()`` of a module is missing, or called too late."""
LOSS_OF_PROBABILITIES = "FX606"
"""A loss that expects logits or log-probabilities is given the result of ``softmax`` or ``sigmoid``."""
LOSS_SIZES = "FX607"
"""A loss compares each value with each target, as its operands have sizes such as (N, 1) and (N,)."""
RESULT_UNUSED = "FX608"
"""The result of an operation that changes nothing is thrown away."""
PARAMETER_REPLACED = "FX609"
"""``forward`` replaces a parameter by a new one in each call: an optimizer never trains it."""
AXES_MIXED = "FX610"
"""A view puts numbers of different axes, or of different examples of the batch, together."""

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
BAD_TRACER = "FX908"
"""The settings name a tracer, or a function to wrap, that does not exist or cannot be used."""

_FAMILIES: Mapping[str, Severity] = {
    "FX1": "warning",
    "FX2": "info",
    "FX3": "warning",
    "FX4": "error",
    "FX5": "info",
    "FX6": "warning",
    "FX9": "warning",
}
_EXCEPTIONS: Mapping[str, Severity] = {
    UNREGISTERED_MODULE: "warning",
    UNREGISTERED_PARAMETER: "warning",
    MADE_IN_FORWARD: "warning",
    TIED_PARAMETER: "hint",
    MODE_BAKED: "hint",
    LEAF_EXPECTED: "hint",
    VARIADIC_INPUT: "hint",
    CHECKPOINT: "info",
    HIDDEN_MODEL: "info",
    GRAPH_FAILS: "warning",
}

_PAGES = "https://github.com/fxlsp/fxlsp/blob/main/docs/problems"


_ALL_CODES = frozenset(
    value for value in tuple(globals().values()) if isinstance(value, str) and re.fullmatch(r"FX\d{3}", value)
)


def is_code_prefix(text: str) -> bool:
    """Return whether a text is a problem code, or the beginning of at least one."""
    return bool(text) and any(code.startswith(text) for code in _ALL_CODES)


def no_code(text: str) -> str:
    """Return the message about a text that is no problem code, with the code that was meant where that is plain.

    Example:
        >>> no_code("fx101")
        "'fx101' is no problem code (such as FX101) and no family of them (such as FX1); did you mean FX101?"
    """
    # A number that does not exist does not show which one is meant.
    candidates = (text.strip().upper(), f"FX{text.strip()}") if text.strip() else ()
    meant = next((f"; did you mean {each}?" for each in candidates if is_code_prefix(each)), "")
    return f"{text!r} is no problem code (such as FX101) and no family of them (such as FX1){meant}"


def page_url(code: str) -> str:
    """Return the URL of the page that explains a problem code and how to fix it."""
    return f"{_PAGES}/{code}.md"


def severity_of(code: str) -> Severity:
    """Return the severity of a problem code unless the user configured another one."""
    return _EXCEPTIONS.get(code) or _FAMILIES[code[:3]]
