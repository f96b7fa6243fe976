"""Start of the recorder in programs that ``fxlsp record`` runs, found by Python through ``PYTHONPATH``.

Python imports a module of this name before a program. This one starts the recorder, removes its folder from the search
path, and runs the ``sitecustomize`` that the environment itself has, if there is one. The package is loaded by location
under a name of its own, so that fxlsp needs no installation beside the program.
"""

import sys


def _start() -> None:
    import importlib
    import importlib.machinery
    import importlib.util
    import os

    package = "_fxlsp_recording"
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    spec = importlib.machinery.ModuleSpec(package, None, is_package=True)
    spec.submodule_search_locations = [folder]
    sys.modules[package] = importlib.util.module_from_spec(spec)
    importlib.import_module(package + ".session").start_from_environment()


def _run_next() -> None:
    """Run the sitecustomize that this one hides."""
    import importlib.machinery
    import importlib.util
    import os

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if sys.version_info >= (3, 10):  # noqa: UP036 - run by whatever interpreter the command has
    try:
        _start()
    except Exception as error:
        sys.stderr.write("fxlsp: this program is not recorded: " + type(error).__name__ + ": " + str(error) + "\n")
_run_next()
