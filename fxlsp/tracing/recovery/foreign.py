"""Functions that are not torch's, tried as plain torch.fx would: do they refuse a proxy, or record what cannot run?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.fx

from .proxies import is_proxy
from .trees import mapped


def plain_outcome(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], values: Callable[[Any], Any]
) -> tuple[BaseException | None, BaseException | None]:
    """What ``function`` raises for plain proxies, and what the graph that it leaves raises when it runs.

    ``values`` gives the values of proxies. Both are None where plain torch.fx manages.
    """
    graph = torch.fx.Graph()
    tracer = torch.fx.proxy.GraphAppendingTracer(graph)
    inputs: list[Any] = []

    def plain(leaf: Any) -> Any:
        if not is_proxy(leaf):
            return leaf
        inputs.append(values(leaf))
        return torch.fx.Proxy(graph.placeholder(f"input_{len(inputs)}"), tracer)

    try:
        result = function(*mapped(args, plain), **mapped(kwargs, plain))
        graph.output(result.node if isinstance(result, torch.fx.Proxy) else None)
    except Exception as error:
        return error, None
    try:
        interpreter = torch.fx.Interpreter(torch.nn.Module(), graph=graph)
        # It would add to the error's message what node of this graph ran.
        interpreter.extra_traceback = False
        interpreter.run(*inputs)
    except Exception as error:
        return None, error
    return None, None
