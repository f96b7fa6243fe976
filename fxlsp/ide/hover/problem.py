"""Problems at the cursor, each with its headline and the advice on its code.

Not every editor shows messages in its hovers, and what to do is understood beside what is wrong. The advice is the
sentence in which the problem's page says what to do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.fixes.registry import fixes_for
from fxlsp.ide.hover.text import HoverText
from fxlsp.ide.problems import FileProblem, problems
from fxlsp.ide.render.rich_text import RichText, link, prose, words
from fxlsp.report import codes
from fxlsp.source.text.documents import Document

_LONGEST_HEADLINE = 160
"""Number of characters of a message that are shown."""

# Source code is between backticks; the full stop that the pages have is left out.
ADVICE: Mapping[str, str] = {
    codes.CONTROL_FLOW: "Choose with an operation that the graph can hold, such as `torch.where`",
    codes.ITERATION: "Use an operation on the whole tensor, or index the items where their number is fixed",
    codes.LENGTH: "Ask for a size, which the graph can hold: `x.shape[0]`, `x.size(0)`",
    codes.CONVERSION: (
        "Leave the value a tensor: operators and many functions of torch take one in the place of a number"
    ),
    codes.INDEX: (
        "Take the number from where it is known when the model is made: an argument of `__init__`, the length of a "
        "`nn.ModuleList`"
    ),
    codes.FACTORY: (
        "Derive the tensor from another one: `x.new_zeros((x.shape[0], 1))`, `torch.zeros_like(x)`, "
        "`torch.full_like(x, 2.0)`"
    ),
    codes.ITEM_ASSIGNMENT: ("Use an operation that returns the changed tensor, such as `masked_fill` or `index_copy`"),
    codes.FOREIGN_FUNCTION: "Use torch's function of that name; most of numpy's have one",
    codes.COMPILED: (
        "Trace the function as it is, and script or compile the model as a whole, before or after tracing"
    ),
    codes.TRANSFORM: (
        "Write the operation for the whole batch, or put the transformed call into a function with `@torch.fx.wrap`"
    ),
    codes.UNSUPPORTED: "Pass and return tensors, tuples, lists, dicts or named tuples",
    codes.NOT_ENTERED: (
        "Take the decorator off `forward`, and decorate a method that it calls, or what calls the model"
    ),
    codes.UNTRACEABLE: "Say the same by torch's own functions, or put it into a function with `@torch.fx.wrap`",
    codes.UNREGISTERED_MODULE: ("Keep modules in `nn.ModuleList` or `nn.ModuleDict`, or as attributes of their own"),
    codes.UNREGISTERED_PARAMETER: (
        "Keep parameters in `nn.ParameterList` or `nn.ParameterDict`, or as attributes of their own"
    ),
    codes.MADE_IN_FORWARD: (
        "Make it once, in `__init__`, or use the function that goes with a module without parameters: `F.relu(x)` for "
        "`nn.ReLU()(x)`"
    ),
    codes.AMBIGUOUS_PATH: (
        "Give the module one name, or make two modules if each place is meant to have weights of its own"
    ),
    codes.TIED_PARAMETER: "Nothing needs to be done if the sharing is meant",
    codes.CALLED_AGAIN: "Make one module for each call, unless the calls are meant to share their weights",
    codes.MISLEADING_NAME: "Rename one of the two, or look modules up by `node.target`, never by `node.name`",
    codes.TYPE_TEST: (
        "Leave the test out of what is traced: decide by an argument of `__init__`, or test before the model is called"
    ),
    codes.OPTIONAL_INPUT: "Decide in `__init__` whether there is one, or make it a required input",
    codes.TEXT_OF_PROXY: (
        "Ask for the value in a way that the graph can hold, or for something that is known when the model is made"
    ),
    codes.MODE_BAKED: (
        "Use the module, such as `nn.Dropout` for `F.dropout`: it is one node and has a mode of its own"
    ),
    codes.STATE_BAKED: "Pass the value in and out, and keep it outside the model",
    codes.BUFFER_UPDATE: "Update it outside `forward`, in the training loop",
    codes.PROXY_KEPT: (
        "Return it as one more output, or look at the value with a hook on the module when the graph runs"
    ),
    codes.TENSOR_ATTRIBUTE: (
        "Say it by an operation: `scale = self.scale.clamp(0, 1)` and go on with that, `x.requires_grad_()`, or "
        "`self.scale.data.clamp_(0, 1)` in place"
    ),
    codes.CONSTANT: "Register the tensor with `register_buffer`, with `persistent=False` if it is not to be saved",
    codes.RANDOM: (
        "Use a function that takes the traced tensor or its size: `torch.randn_like(x)`, `torch.rand((x.shape[0], 1))`"
    ),
    codes.CONTEXT_DROPPED: ("Say it by operations: `detach()` for `no_grad`, `.to(torch.bfloat16)` for `autocast`"),
    codes.CUSTOM_BACKWARD: (
        "Call it in a function with `@torch.fx.wrap`: that is one node, and runs the whole `Function` when the graph "
        "runs"
    ),
    codes.CHECKPOINT: "Trace the model without it, and checkpoint the call of the graph, or of its parts",
    codes.HOOK_DROPPED: (
        "Do it in `forward`, make the module a child of another one that is traced, or register the hook on the graph "
        "module"
    ),
    codes.SWALLOWED: "Repair what fails, as if it were not caught",
    codes.LEAF_BYPASSED: "Call the module itself: `self.layer(x)`",
    codes.LEAF_EXPECTED: (
        "Use the layer itself, or trace with a `torch.fx.Tracer` whose `is_leaf_module` knows the subclass"
    ),
    codes.HIDDEN_MODEL: "Wrap the whole model, after tracing",
    codes.VARIADIC_INPUT: "Name the inputs, or take them as one tuple or list",
    codes.GRAPH_DIFFERS: ("Decide what is the same for all calls in `__init__`, or give the value while tracing"),
    codes.OPERATION_FAILS: "Make the operation fit its operands, whose shapes the message gives",
    codes.CODE_FAILS: "Mend the name, the attribute or the call: it fails whatever the model is given",
    codes.GRAPH_FAILS: "Use torch's own function or method, or make the function one node with `@torch.fx.wrap`",
    codes.MODULE_NEVER_CALLED: "Call it or remove it",
    codes.PARAMETER_NEVER_USED: "Use it or remove it",
    codes.MODULES_NOT_REGISTERED: "Keep modules in `nn.ModuleList` or `nn.ModuleDict`, or as attributes of their own",
    codes.PARAMETER_NOT_REGISTERED: (
        "Assign an `nn.Parameter`, or keep several in `nn.ParameterList` or `nn.ParameterDict`"
    ),
    codes.NOTHING_RETURNED: "Return the result: `return x`, `return self.head(x)`",
    codes.LOCAL_INSTEAD_OF_ATTRIBUTE: "Assign the attribute: `self.head = nn.Linear(4, 2)`",
    codes.NOT_INITIALISED: "Call `super().__init__()` first, with its parentheses",
    codes.LOSS_OF_PROBABILITIES: (
        "Give the loss the values before `softmax` or `sigmoid`, and `nll_loss` those of `log_softmax`"
    ),
    codes.LOSS_SIZES: "Give both the same size: `prediction.squeeze(-1)`, or `target.unsqueeze(-1)`",
    codes.RESULT_UNUSED: "Assign the result, `x = x + y`, or take the statement out",
    codes.PARAMETER_REPLACED: (
        "Keep the parameter that is trained in `__init__`, and compute from it what the operation takes: "
        "`F.conv2d(x, self.raw / self.raw.norm())`"
    ),
    codes.AXES_MIXED: ("Exchange the axes first: `x.flatten(2).transpose(1, 2)`, or give the size of a whole example"),
    codes.NOT_LOADED: ("Repair the statement, or name an interpreter that has what it needs by the setting `python`"),
    codes.NOT_FOUND: "Name a class, a function that makes a model, or a model that the file has",
    codes.NOT_BUILT: (
        "Repair `__init__`, or give arguments that it works with in a comment "
        "`# fxlsp: Net(width=64)(torch.randn(1, 3, 32, 32))` above the class"
    ),
    codes.NOT_FED: (
        "Write inputs that can be made where the recipe stands; it can use what the file defines and imports"
    ),
    codes.DIED: (
        "Raise an exception instead of ending the process, or raise `limits.seconds`, `limits.megabytes`, "
        "`limits.processes` or `limits.writtenMegabytes` if the "
        "model needs more"
    ),
    codes.NO_INTERPRETER: (
        "Set the interpreter of the environment in which the model runs: the setting `python`, or `--python` on the "
        "command line"
    ),
    codes.BAD_RECIPE: (
        "Write one Python expression that makes the model, `Net(10)`, or makes and feeds it, "
        "`Net(10)(torch.randn(1, 3))`"
    ),
    codes.BAD_TRACER: "Name a class that is there, derives from `torch.fx.Tracer` and needs no arguments",
}


def problem_hover(snapshot: Snapshot, path: str, line: int, column: int, shown: str = "") -> HoverText | None:
    """Return headline and advice for each problem at a position, inner expressions first.

    None if there is no problem.

    Args:
        shown: text of the hover without problems, whose headlines are not repeated.
    """
    document = snapshot.documents.get(path)
    around = [] if document is None else _around(problems(snapshot, path), line, column)
    if document is None or not around:
        return None
    lines = dict.fromkeys(_advice(document, problem, shown) for problem in around)
    return HoverText((), around[0].span, tuple(lines))


def _around(shown: Sequence[FileProblem], line: int, column: int) -> list[FileProblem]:
    """Return the problems at a position, the smallest span first.

    One that ends directly before the position counts only if no other contains the character after it.
    """
    touching = [each for each in shown if each.code in ADVICE and each.span.contains(line, column)]
    holding = [each for each in touching if (line, column) < (each.span.end_line, each.span.end_column)]
    return sorted(holding or touching, key=lambda each: each.span.size)


def _advice(document: Document, problem: FileProblem, shown: str) -> RichText:
    fix = next(iter(fixes_for(document, problem.code, problem.span, problem.number)), None)
    headline = _headline(problem.message)
    return advice(problem.code, None if headline.plain in shown else headline, None if fix is None else fix.title)


def _headline(message: str) -> RichText:
    """Return the first line of a message, with source between backticks set as code."""
    first = " ".join(message.strip().partition("\n")[0].split()).removesuffix(".")
    if len(first) > _LONGEST_HEADLINE:
        kept = first[: _LONGEST_HEADLINE - 1]
        first = kept.rpartition(". ")[0] or f"{kept}…"
    # Messages of torch and of the model may hold a single backtick.
    return words(first) if first.count("`") % 2 else prose(first)


def advice(code: str, headline: RichText | None, fix: str | None) -> RichText:
    """Return ``FX201: module is not installed as a submodule. Keep modules in … · fix: Register the modules …``.

    Args:
        code: a problem's code, one of :data:`ADVICE`.
        headline: what is wrong; None if that is known.
        fix: title of the quick fix for the problem, if there is one.
    """
    end = "" if headline is None or headline.plain.endswith("…") else "."
    what = words("") if headline is None else headline + words(f"{end} ")
    line = link(code, codes.page_url(code)) + words(": ") + what + prose(ADVICE[code])
    return line if fix is None else line + words(" · fix: ") + words(fix)
