"""Stands for a supervisor's process: asks :mod:`tests.support.warm_supervisors` to fork one, and ends as that ends.

``python -I -S forked_supervisor.py DESCRIPTOR``; the environment variable FXLSP_TEST_WARM names the socket.
"""

import json
import os
import signal
import socket
import sys

connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ["FXLSP_TEST_WARM"])
environment = json.dumps(dict(os.environ)).encode() + b"\0"
sent = socket.send_fds(connection, [environment], [int(sys.argv[1]), 1])
connection.sendall(environment[sent:])
os.close(int(sys.argv[1]))
status = int(connection.recv(64) or signal.SIGKILL)
if os.WIFSIGNALED(status):
    signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
    os.kill(os.getpid(), os.WTERMSIG(status))
os._exit(os.WEXITSTATUS(status))
