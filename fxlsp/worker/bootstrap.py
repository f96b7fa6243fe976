"""Starts a process of the worker: run by path under the project's interpreter.

``python bootstrap.py DESCRIPTOR`` is a template, which talks over the socket that it is handed. ``python bootstrap.py
--spawned FOLDER`` is a process that the template starts for one trace, where it cannot fork; FOLDER is what that may
write to.

The worker is loaded by explicit location under a package name of its own. So nothing of the server's site-packages
appears on the project's ``sys.path``, and an fxlsp that is installed in the project is never taken for this one.
"""

import sys

if sys.version_info < (3, 10):  # noqa: UP036 - run by whatever interpreter the project has
    # Said here, in words that any Python can run: what follows would end in a SyntaxError.
    sys.exit("fxlsp needs Python 3.10 or later to trace, and " + sys.executable + " is " + sys.version.split()[0])

import importlib.machinery
import importlib.util
import os

PACKAGE = "_fxlsp_worker"


def load_package() -> None:
    """Make the worker importable as :data:`PACKAGE`, and nothing else that lies beside this file."""
    # Running a file by path puts its folder first on sys.path, where ``import values`` would find ours.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]
    spec = importlib.machinery.ModuleSpec(PACKAGE, None, is_package=True)
    spec.submodule_search_locations = [os.path.dirname(here)]
    sys.modules[PACKAGE] = importlib.util.module_from_spec(spec)


def main() -> None:
    load_package()
    start = importlib.import_module(PACKAGE + ".worker.supervisor.start")
    if sys.argv[1] == "--spawned":
        start.start_spawned_worker(sys.argv[2])
    else:
        handed = importlib.import_module(PACKAGE + ".wire.handed_socket")
        start.start(handed.handed_socket(sys.argv[1]))
    # Without the interpreter's own end, in which native packages take their time to complain about each other.
    os._exit(0)


if __name__ == "__main__":
    main()
