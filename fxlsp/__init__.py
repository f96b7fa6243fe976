"""A language server that shows what torch.fx records of a PyTorch model.

PYTEST_DONT_REWRITE: fxlsp has a plugin of pytest, and pytest would warn where a program has imported this before.
"""

from __future__ import annotations

__version__ = "0.1.0"


def record(file: str | None = None) -> None:
    """Record from now on how this program makes and calls the modules of its project.

    Editors and commands of fxlsp then use the recorded arguments and inputs. Neither values of tensors nor secrets are
    recorded, and the program behaves as it does otherwise.

    Args:
        file: path of the recording; None is the one in the user's cache folder.

    Raises:
        ValueError: ``file`` is something else than a recording.

    Example:
        >>> import fxlsp
        >>> fxlsp.record()  # doctest: +SKIP
    """
    # Only here: the start of every command imports this module.
    from fxlsp.cli.record.in_process import record_process

    record_process(file)
