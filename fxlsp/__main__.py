"""Entry point of ``python -m fxlsp``, which is the command ``fxlsp``."""

import os
import sys


def _forget_working_directory() -> None:
    """Remove the working directory from the module search path, unless this package is there.

    ``python -m`` puts it first. It is often a workspace, whose ``json.py`` must not be imported: nothing of a
    workspace runs before it is trusted.
    """
    first = os.path.realpath(sys.path[0]) if sys.path else ""
    if first == os.path.realpath(os.curdir) != os.path.dirname(os.path.dirname(os.path.realpath(__file__))):
        del sys.path[0]


if __name__ == "__main__":
    _forget_working_directory()
    # Imported only now: what it imports would be looked for in the working directory.
    from fxlsp.cli.main import main

    sys.exit(main())
