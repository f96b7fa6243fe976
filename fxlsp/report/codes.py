"""All problem codes, one record each; a code never changes its meaning.

The docstring of a constant is the definition of its code. The family gives severity and traits; the record adds to the
traits, and may have another severity. The constants of other front ends are in :mod:`.frontend_codes`.
"""

from __future__ import annotations

from . import frontend_codes
from .code_records import CodeRecord, Severity, Trait, record_of

_PAGES = "https://github.com/fxlsp/fxlsp/blob/main/docs/problems"
RECORDS: dict[str, CodeRecord] = dict(frontend_codes.RECORDS)
"""The record of each code."""


def _define(code: str, advice: str, traits: Trait = Trait.NONE, *, severity: Severity | None = None) -> str:
    RECORDS[code] = record_of(code, advice, traits, severity=severity)
    return code


CONTROL_FLOW = _define(
    "FX101", "Choose with an operation that the graph can hold, such as `torch.where`", Trait.ASKS_FOR_VALUE
)
"""A traced value decides ``if``, ``while``, ``assert``, ``and``/``or``/``not``, ``in`` or a comparison chain."""
ITERATION = _define(
    "FX102",
    "Use an operation on the whole tensor, or index the items where their number is fixed",
    Trait.ASKS_FOR_VALUE,
)
"""A traced value is iterated, unpacked with a star or passed as ``*args``/``**kwargs``."""
LENGTH = _define(
    "FX103",
    "Ask for a size, which the graph can hold: `x.shape[0]`, `x.size(0)`",
    Trait.ASKS_FOR_VALUE | Trait.BY_FUNCTION,
)
"""``len`` or ``reversed`` of a traced value."""
CONVERSION = _define(
    "FX104",
    "Leave the value a tensor: operators and many functions of torch take one in the place of a number",
    Trait.ASKS_FOR_VALUE | Trait.BY_OPERATION,
)
"""``int``, ``float``, ``complex`` or ``round`` of a traced value."""
INDEX = _define(
    "FX105",
    "Take the number from where it is known when the model is made: an argument of `__init__`, the length of a "
    "`nn.ModuleList`",
    Trait.ASKS_FOR_VALUE | Trait.BY_OPERATION,
)
"""A traced value is an index or slice of a Python sequence, the key of a dict, or an argument of ``range``."""
FACTORY = _define(
    "FX106",
    "Derive the tensor from another one: `x.new_zeros((x.shape[0], 1))`, `torch.zeros_like(x)`, "
    "`torch.full_like(x, 2.0)`",
    Trait.BY_OPERATION,
)
"""A function that makes a tensor or a size meets a traced value where it takes Python numbers alone."""
ITEM_ASSIGNMENT = _define(
    "FX107",
    "Use an operation that returns the changed tensor, such as `masked_fill` or `index_copy`",
    Trait.BY_OPERATION,
)
"""An item of a traced value is assigned or deleted."""
FOREIGN_FUNCTION = _define("FX108", "Use torch's function of that name; most of numpy's have one", Trait.BY_FUNCTION)
"""A traced value is given to numpy or another function that is not torch's."""
COMPILED = _define(
    "FX109",
    "Trace the function as it is, and script or compile the model as a whole, before or after tracing",
    Trait.BY_FUNCTION | Trait.WHILE_TRACING,
)
"""A scripted or compiled function or module is called."""
TRANSFORM = _define(
    "FX110",
    "Write the operation for the whole batch, or put the transformed call into a function with `@torch.fx.wrap`",
    Trait.BY_FUNCTION | Trait.WHILE_TRACING,
)
"""A function transform (``torch.vmap``, ``torch.func.grad``) or a higher-order operator (``torch.cond``)."""
UNSUPPORTED = _define("FX111", "Pass and return tensors, tuples, lists, dicts or named tuples")
"""An argument or the output is of a type that a graph cannot hold."""
NOT_ENTERED = _define(
    "FX112", "Take the decorator off `forward`, and decorate a method that it calls, or what calls the model"
)
"""``forward`` is never entered: its decorators, its signature or the root's own type are in the way."""
UNTRACEABLE = _define(
    "FX199",
    "Say the same by torch's own functions, or put it into a function with `@torch.fx.wrap`",
    Trait.MAY_LACK_HARDWARE,
)
"""``torch.fx.symbolic_trace`` raises here for any other reason."""

UNREGISTERED_MODULE = _define(
    "FX201",
    "Keep modules in `nn.ModuleList` or `nn.ModuleDict`, or as attributes of their own",
    Trait.REFUSES | Trait.BY_CONSTRUCTION,
    severity="warning",
)
"""A module is called that is not registered under the root module."""
UNREGISTERED_PARAMETER = _define(
    "FX202",
    "Keep parameters in `nn.ParameterList` or `nn.ParameterDict`, or as attributes of their own",
    Trait.REFUSES | Trait.BY_CONSTRUCTION,
    severity="warning",
)
"""A parameter is used that is not registered under the root module."""
MADE_IN_FORWARD = _define(
    "FX203",
    "Make it once, in `__init__`, or use the function that goes with a module without parameters: `F.relu(x)` for "
    "`nn.ReLU()(x)`",
    Trait.REFUSES | Trait.BY_CONSTRUCTION,
    severity="warning",
)
"""A module is made, or registered, while ``forward`` runs."""
AMBIGUOUS_PATH = _define(
    "FX204", "Give the module one name, or make two modules if each place is meant to have weights of its own"
)
"""A module with state is called through another of its names than the path that FX gives it."""
TIED_PARAMETER = _define("FX205", "Nothing needs to be done if the sharing is meant", severity="hint")
"""A parameter has several names, and FX records the first whichever was used."""
CALLED_AGAIN = _define("FX206", "Make one module for each call, unless the calls are meant to share their weights")
"""A module with parameters or buffers is called several times: all its calls have one path."""
MISLEADING_NAME = _define("FX207", "Rename one of the two, or look modules up by `node.target`, never by `node.name`")
"""The name of a node reads as the path of another module."""

TYPE_TEST = _define(
    "FX301",
    "Leave the test out of what is traced: decide by an argument of `__init__`, or test before the model is called",
    Trait.EXPLAINS | Trait.DIVERGES | Trait.IN_MADE_GRAPH | Trait.LEADS_TO_REFUSAL | Trait.BY_EXPRESSION,
)
"""A test of a value's type, attributes or callability sees torch.fx's proxy and answers otherwise than for a tensor."""
OPTIONAL_INPUT = _define(
    "FX302", "Decide in `__init__` whether there is one, or make it a required input", Trait.EXPLAINS | Trait.DIVERGES
)
"""An optional input is compared with None: the graph holds the other branch whatever is passed."""
TEXT_OF_PROXY = _define(
    "FX303",
    "Ask for the value in a way that the graph can hold, or for something that is known when the model is made",
    Trait.EXPLAINS | Trait.DIVERGES | Trait.IN_MADE_GRAPH | Trait.LEADS_TO_REFUSAL | Trait.BY_EXPRESSION,
)
"""The text of a proxy is used as data."""
MODE_BAKED = _define(
    "FX304",
    "Use the module, such as `nn.Dropout` for `F.dropout`: it is one node and has a mode of its own",
    Trait.BY_EXPRESSION,
    severity="hint",
)
"""The graph holds one mode: ``train()`` and ``eval()`` have no effect on it here."""
STATE_BAKED = _define("FX305", "Pass the value in and out, and keep it outside the model", Trait.EXPLAINS)
"""Python state changes while ``forward`` runs: the graph holds its value at the time of tracing."""
BUFFER_UPDATE = _define("FX306", "Update it outside `forward`, in the training loop")
"""A buffer is updated once, while tracing, and never by the graph."""
PROXY_KEPT = _define(
    "FX307",
    "Return it as one more output, or look at the value with a hook on the module when the graph runs",
    Trait.EXPLAINS,
)
"""A traced value is stored outside ``forward``: the graph does not store it."""
CONSTANT = _define(
    "FX308", "Register the tensor with `register_buffer`, with `persistent=False` if it is not to be saved"
)
"""A tensor becomes a constant of the graph though it can change."""
RANDOM = _define(
    "FX309",
    "Use a function that takes the traced tensor or its size: `torch.randn_like(x)`, `torch.rand((x.shape[0], 1))`",
    Trait.EXPLAINS,
)
"""A random number, or the time, is drawn once, while tracing."""
CONTEXT_DROPPED = _define(
    "FX310", "Say it by operations: `detach()` for `no_grad`, `.to(torch.bfloat16)` for `autocast`"
)
"""A context manager or a setting (``no_grad``, ``autocast``, ``manual_seed``) has no effect in the graph."""
CUSTOM_BACKWARD = _define(
    "FX311",
    "Call it in a function with `@torch.fx.wrap`: that is one node, and runs the whole `Function` when the graph runs",
    Trait.EXPLAINS,
)
"""An ``autograd.Function`` is traced through: its backward is lost."""
CHECKPOINT = _define(
    "FX312", "Trace the model without it, and checkpoint the call of the graph, or of its parts", severity="info"
)
"""Activation checkpointing vanishes from the graph."""
HOOK_DROPPED = _define(
    "FX313",
    "Do it in `forward`, make the module a child of another one that is traced, or register the hook on the graph "
    "module",
    Trait.EXPLAINS,
)
"""A hook, a parametrisation or an instance's own ``forward`` of the root is not in the graph."""
SWALLOWED = _define(
    "FX314",
    "Repair what fails, as if it were not caught",
    Trait.EXPLAINS | Trait.DIVERGES | Trait.IN_MADE_GRAPH | Trait.LEADS_TO_REFUSAL,
)
"""The model catches torch.fx's own error and goes another way than it does when it runs."""
LEAF_BYPASSED = _define("FX315", "Call the module itself: `self.layer(x)`")
"""``module.forward(...)`` is called instead of the module: no call is recorded, and no path of its own."""
LEAF_EXPECTED = _define(
    "FX316",
    "Use the layer itself, or trace with a `torch.fx.Tracer` whose `is_leaf_module` knows the subclass",
    severity="hint",
)
"""A subclass of a module of torch.nn is traced through, unlike that module itself."""
HIDDEN_MODEL = _define("FX317", "Wrap the whole model, after tracing", severity="info")
"""A wrapper is one node, and the model behind it is hidden."""
VARIADIC_INPUT = _define("FX318", "Name the inputs, or take them as one tuple or list", severity="hint")
"""``*args`` or ``**kwargs`` of the root are one input of the graph."""
TENSOR_ATTRIBUTE = _define(
    "FX319",
    "Say it by an operation: `scale = self.scale.clamp(0, 1)` and go on with that, `x.requires_grad_()`, or "
    "`self.scale.data.clamp_(0, 1)` in place",
    Trait.EXPLAINS,
)
"""An attribute of a traced tensor, such as ``data``, is assigned: only its proxy has it."""
GRAPH_DIFFERS = _define("FX399", "Decide what is the same for all calls in `__init__`, or give the value while tracing")
"""The graph does something else than the model when it runs, for any other reason."""

OPERATION_FAILS = _define(
    "FX401",
    "Make the operation fit its operands, whose shapes the message gives",
    Trait.EXPLAINS | Trait.IN_MADE_GRAPH | Trait.RAISES | Trait.BY_CONSTRUCTION | Trait.MAY_LACK_HARDWARE,
)
"""This operation raises when it runs (shape, dtype, device or value)."""
GRAPH_FAILS = _define(
    "FX402",
    "Use torch's own function or method, or make the function one node with `@torch.fx.wrap`",
    Trait.EXPLAINS | Trait.IN_MADE_GRAPH | Trait.OF_TORCH_FX | Trait.MAY_LACK_HARDWARE,
    severity="warning",
)
"""The model runs, but what was recorded here fails when the graph runs."""
CODE_FAILS = _define(
    "FX403",
    "Mend the name, the attribute or the call: it fails whatever the model is given",
    Trait.EXPLAINS
    | Trait.IN_MADE_GRAPH
    | Trait.RAISES
    | Trait.REFUSES
    | Trait.BY_CONSTRUCTION
    | Trait.MAY_LACK_HARDWARE,
)
"""The model's own code raises here whatever it is given: a name, an attribute or a call that cannot be right."""

MODULE_NEVER_CALLED = _define("FX501", "Call it or remove it")
"""A module of the model is never called."""
PARAMETER_NEVER_USED = _define("FX502", "Use it or remove it")
"""A parameter of the model is never used."""

MODULES_NOT_REGISTERED = _define(
    "FX601", "Keep modules in `nn.ModuleList` or `nn.ModuleDict`, or as attributes of their own"
)
"""An attribute holds modules in a Python list, tuple or dict, and nothing registers them."""
PARAMETER_NOT_REGISTERED = _define(
    "FX602", "Assign an `nn.Parameter`, or keep several in `nn.ParameterList` or `nn.ParameterDict`"
)
"""A plain tensor, or a list or dict of parameters, is meant to be trained, and is no parameter of the model."""
NOTHING_RETURNED = _define("FX603", "Return the result: `return x`, `return self.head(x)`")
"""A ``forward`` ends without returning what it computed, or returns a module instead of its result."""
LOCAL_INSTEAD_OF_ATTRIBUTE = _define("FX604", "Assign the attribute: `self.head = nn.Linear(4, 2)`")
"""A constructor assigns an unused local variable, and the attribute of that name is read and does not exist."""
NOT_INITIALISED = _define("FX605", "Call `super().__init__()` first, with its parentheses", severity="error")
"""``super().__init__()`` of a module is missing, or called too late."""
LOSS_OF_PROBABILITIES = _define(
    "FX606",
    "Give the loss the values before `softmax` or `sigmoid`, and `nll_loss` those of `log_softmax`",
    Trait.BY_EXPRESSION,
)
"""A loss that expects logits or log-probabilities is given the result of ``softmax`` or ``sigmoid``."""
LOSS_SIZES = _define(
    "FX607", "Give both the same size: `prediction.squeeze(-1)`, or `target.unsqueeze(-1)`", Trait.BY_EXPRESSION
)
"""A loss compares each value with each target, as its operands have sizes such as (N, 1) and (N,)."""
RESULT_UNUSED = _define("FX608", "Assign the result, `x = x + y`, or take the statement out", Trait.BY_EXPRESSION)
"""The result of an operation that changes nothing is thrown away."""
PARAMETER_REPLACED = _define(
    "FX609",
    "Keep the parameter that is trained in `__init__`, and compute from it what the operation takes: `F.conv2d(x, "
    "self.raw / self.raw.norm())`",
)
"""``forward`` replaces a parameter by a new one in each call: an optimizer never trains it."""
AXES_MIXED = _define("FX610", "Exchange the axes first: `x.flatten(2).transpose(1, 2)`", Trait.BY_EXPRESSION)
"""A view puts numbers of different axes, or of different examples of the batch, together."""
HOLDS_ITSELF = _define("FX611", "Pass `forward` what it needs, or refer to it by a list: `[owner]`", severity="error")
"""A module is registered below itself."""

NOT_LOADED = _define(
    "FX901", "Repair the statement, or name an interpreter that has what it needs by the setting `python`"
)
"""The file does not parse, import or execute."""
NOT_FOUND = _define("FX902", "Name a class, a function that makes a model, or a model that the file has")
"""The file was loaded, but has no such class, factory or instance."""
NOT_BUILT = _define(
    "FX903",
    "Repair `__init__`, or give arguments that it works with in a comment `# fxlsp: Net(width=64)(torch.randn(1, "
    "3, 32, 32))` above the class",
)
"""The model could not be constructed."""
NOT_FED = _define(
    "FX904", "Write inputs that can be made where the recipe stands; it can use what the file defines and imports"
)
"""The model was constructed and traced, but its inputs are unknown or could not be made."""
DIED = _define(
    "FX905",
    "Raise an exception instead of ending the process, or raise `limits.seconds`, `limits.megabytes`, "
    "`limits.processes` or `limits.writtenMegabytes` if the model needs more",
)
"""The process that traced the model crashed, exited or was ended at a limit."""
NO_INTERPRETER = _define(
    "FX906",
    "Set the interpreter of the environment in which the model runs: the setting `python`, or `--python` on the "
    "command line",
)
"""There is no interpreter to trace with, or it lacks torch or has one that is too old."""
BAD_RECIPE = _define(
    "FX907",
    "Write one Python expression that makes the model, `Net(10)`, or makes and feeds it, `Net(10)(torch.randn(1, 3))`",
)
"""A ``# fxlsp:`` comment or a configured recipe is not one Python expression that makes a model."""
BAD_TRACER = _define("FX908", "Name a class that is there, derives from `torch.fx.Tracer` and needs no arguments")
"""The settings name a tracer, or a function to wrap, that does not exist or cannot be used."""


def codes_with(trait: Trait) -> frozenset[str]:
    """Return the codes that have a trait."""
    return frozenset(record.code for record in RECORDS.values() if trait in record.traits)


def is_code_prefix(text: str) -> bool:
    """Return whether a text is a problem code, or the beginning of at least one."""
    return bool(text) and any(code.startswith(text) for code in RECORDS)


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
    return RECORDS[code].severity
