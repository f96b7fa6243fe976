"""Proxy of a process forked by the fork server; exits as that process exits.

``python -I -S forked_process.py SOCKET DESCRIPTORS [ARGUMENT ...]``: DESCRIPTORS are those that it inherits beside
0, 1 and 2, "4,5" or "".
"""

import json
import os
import signal
import socket
import sys

path, further, *arguments = sys.argv[1:]
connection = socket.socket(socket.AF_UNIX)
connection.connect(path)
request = {"environment": dict(os.environ), "folder": os.getcwd(), "arguments": arguments}
text = json.dumps(request).encode() + b"\0"
descriptors = [0, 1, 2, *map(int, filter(None, further.split(",")))]
sent = socket.send_fds(connection, [text], descriptors)
connection.sendall(text[sent:])
for descriptor in descriptors:
    os.close(descriptor)
status = int(connection.recv(64) or signal.SIGKILL)
if os.WIFSIGNALED(status):
    if os.WTERMSIG(status) != signal.SIGKILL:
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
    os.kill(os.getpid(), os.WTERMSIG(status))
os._exit(os.WEXITSTATUS(status))
