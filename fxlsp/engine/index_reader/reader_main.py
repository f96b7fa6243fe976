"""Starts the process that reads the files of a workspace for the server: ``python reader_main.py DESCRIPTOR``.

Run by path under the server's own interpreter, it takes the fxlsp that it is a part of, however the server came by it
(from site-packages, a source tree, an editor's extension), and learns where the server's packages are from its order.
"""

import importlib.util
import os
import sys


def main() -> None:
    # Running a file by path puts its folder first on sys.path, where ``import requests`` would find ours.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]
    package = os.path.dirname(os.path.dirname(here))
    spec = importlib.util.spec_from_file_location(
        "fxlsp", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
    )
    assert spec is not None
    assert spec.loader is not None
    sys.modules["fxlsp"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["fxlsp"])
    from fxlsp.engine.index_reader.reader_protocol import read_folders
    from fxlsp.wire.handed_socket import handed_socket

    read_folders(handed_socket(sys.argv[1]))
    # At once: the thread that waits for the server's end would be waited for.
    os._exit(0)


if __name__ == "__main__":
    main()
