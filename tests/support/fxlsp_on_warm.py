"""``python fxlsp_on_warm.py serve --stdio`` is ``fxlsp serve --stdio`` with supervisors from the warm process."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[2])
    from fxlsp.cli.main import main
    from tests.support.warm_launch import install

    install()
    sys.exit(main())
