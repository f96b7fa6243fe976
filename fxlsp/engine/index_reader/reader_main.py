"""Program of the index reader: ``python reader_main.py DESCRIPTOR``.

Run by path under the server's own interpreter. It loads the fxlsp that it is a part of, wherever the server found it
(site-packages, a source tree, an editor's extension), and receives the server's ``sys.path`` with its order.
"""

import importlib.util
import os
import sys


def main() -> None:
    # Running a file by path puts its folder first on sys.path, where modules of ours could shadow others.
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
    # At once: a regular exit would wait for the thread that waits for the server's end.
    os._exit(0)


if __name__ == "__main__":
    main()
