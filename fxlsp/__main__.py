"""Entry point of ``python -m fxlsp``, which is the command ``fxlsp``."""

import sys

from fxlsp.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
