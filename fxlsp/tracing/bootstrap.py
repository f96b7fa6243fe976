"""Entry point of supervisors and spawned workers, run by path.

It runs under the project's interpreter.
``python bootstrap.py DESCRIPTOR`` starts a supervisor, which communicates over the socket that it inherits. ``python
bootstrap.py --spawned FOLDER`` starts a worker for one trace, where the supervisor cannot fork; FOLDER is the scratch
folder that it may write to.

The package is loaded by explicit location under a name of its own. So nothing of the server's site-packages appears on
the project's ``sys.path``, and an fxlsp that is installed in the project is never imported in its place.
"""

import sys

if sys.version_info < (3, 10):  # noqa: UP036 - run by whatever interpreter the project has
    # Checked here, in syntax that any Python can run: the imports below would end in a SyntaxError.
    sys.exit("fxlsp needs Python 3.10 or later to trace, and " + sys.executable + " is " + sys.version.split()[0])

import importlib.machinery
import importlib.util
import os

PACKAGE = "_fxlsp_tracing"


def load_package() -> None:
    """Make the package importable as :data:`PACKAGE`, without files beside this one."""
    # Running a file by path puts its folder first on sys.path, where a user's ``import model`` would find ours.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]
    spec = importlib.machinery.ModuleSpec(PACKAGE, None, is_package=True)
    spec.submodule_search_locations = [os.path.dirname(here)]
    sys.modules[PACKAGE] = importlib.util.module_from_spec(spec)


def main() -> None:
    """Start the process that the command line asks for."""
    load_package()
    start = importlib.import_module(PACKAGE + ".tracing.processes.start")
    if sys.argv[1] == "--spawned":
        start.start_spawned_worker(sys.argv[2])
    else:
        handed = importlib.import_module(PACKAGE + ".wire.handed_socket")
        start.start(handed.handed_socket(sys.argv[1]))
    # Skip the interpreter's finalization, in which native packages take time and print complaints about each other.
    os._exit(0)


if __name__ == "__main__":
    main()
