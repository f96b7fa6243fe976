"""What hostile or broken models do, as statements, and where in a file each is tried.

Each statement stands alone at its place; ``ctypes, os, signal, sys, threading, time, tempfile, torch`` are imported and
``libc`` is the C library.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

PLACES = ("module", "class", "init", "forward")

_HANGS = {
    "loops": "while True: pass",
    "sleeps": "time.sleep(10**6)",
    "sleeps_in_c": "libc.sleep(10**6)",
    "sleeps_with_signals_masked": "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); libc.sleep(10**6)",
    "ignores_signals": "[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 3, 10, 12, 13, 14, 15)]; time.sleep(10**6)",
    "waits_for_a_lock": "lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "waits_for_a_pipe": "os.read(os.pipe()[0], 1)",
    "waits_for_input": "input()",
    "reads_standard_input": "sys.stdin.read(); time.sleep(10**6)",
    "joins_itself": "t = threading.Thread(target=time.sleep, args=(10**6,)); t.start(); t.join()",
    "stops_itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "stops_below_python": "libc.raise_(19) if hasattr(libc, 'raise_') else libc.kill(os.getpid(), 19)",
    "matches_for_ever": "import re; re.match('(a+)+$', 'a' * 64 + 'b')",
    "counts_digits": "sys.set_int_max_str_digits(0); str(10**10**8)",
}
_DEATHS = {
    "exits": "os._exit(3)",
    "exits_well": "os._exit(0)",
    "aborts": "os.abort()",
    "raises_system_exit": "sys.exit('done')",
    "quits": "quit()",
    "interrupts": "import _thread; _thread.interrupt_main()",
    "raises_keyboard_interrupt": "raise KeyboardInterrupt",
    "raises_generator_exit": "raise GeneratorExit",
    "reads_null": "ctypes.string_at(0)",
    "writes_null": "ctypes.memset(0, 1, 8)",
    "kills_itself": "os.kill(os.getpid(), 9)",
    "kills_its_group": "os.killpg(0, 9)",
    "kills_its_parent": "libc.kill(os.getppid(), 9)",
    "kills_everything": "libc.kill(-1, 9)",
    "terminates_its_session": "libc.kill(0, 15)",
    "divides_by_zero_in_c": "os.kill(os.getpid(), signal.SIGFPE)",
    "runs_data": "ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.create_string_buffer(64)))()",
    "overflows_the_stack": "sys.setrecursionlimit(10**9); f = lambda n: f(n + 1); f(0)",
    "recurses": "f = lambda n: f(n + 1); f(0)",
    "nests_a_list": "a = []; exec('for _ in range(10**6): a = [a]'); repr(a)",
}
_AMOUNTS = {
    "allocates": "keep = [bytearray(b'x' * 2**24) for _ in iter(int, 1)]",
    "allocates_at_once": "keep = torch.ones(10**11)",
    "allocates_zeros": "keep = bytearray(10**11)",
    "prints": "[print('x' * 10**6) for _ in range(300)]",
    "prints_without_end": "[os.write(1, b'y' * 4096) for _ in iter(int, 1)]",
    "prints_errors": "[os.write(2, b'\\xff\\x1b[31m' * 4096) for _ in range(10**4)]",
    "writes_files": "[tempfile.mkstemp() for _ in range(10**5)]",
    "fills_the_disk": "[open(tempfile.mkstemp()[1], 'wb').write(bytes(2**24)) for _ in iter(int, 1)]",
    "opens_files": "keep = [os.open(os.devnull, 0) for _ in range(10**6)]",
    "opens_pipes": "keep = [os.pipe() for _ in range(10**6)]",
    "starts_threads": "[threading.Thread(target=time.sleep, args=(10**6,)).start() for _ in range(500)]",
    "leaves_daemons": "[threading.Thread(target=time.sleep, args=(10**6,), daemon=True).start() for _ in range(50)]",
    "starts_processes": "[libc.fork() for _ in range(7)]; time.sleep(10**6)",
    "leaves_a_process": "libc.fork() or time.sleep(10**6)",
    "leaves_a_session": "libc.fork() or (os.setsid(), time.sleep(10**6))",
    "leaves_an_orphan": "libc.fork() or (libc.fork() and os._exit(0)) or time.sleep(10**6)",
    "long_message": "raise ValueError('x' * 10**7)",
    "long_name": "raise type('X' * 10**6, (Exception,), {})()",
    "many_attributes": "globals().update({f'name_{i}': i for i in range(10**5)})",
}
_LIES = {
    "patches_open": "import builtins; builtins.open = None",
    "patches_import": "import builtins; builtins.__import__ = lambda *a, **k: 1 / 0",
    "patches_len": "import builtins; builtins.len = lambda x: 'long'",
    "patches_isinstance": "import builtins; builtins.isinstance = lambda *a: True",
    "patches_type": "import builtins; builtins.type = lambda *a: int",
    "patches_exceptions": "import builtins; builtins.Exception = int",
    "removes_modules": "sys.modules.clear()",
    "removes_torch": "[sys.modules.pop(n) for n in list(sys.modules) if n.startswith('torch')]",
    "replaces_json": "sys.modules['json'] = None",
    "patches_tracer": "torch.fx.Tracer.trace = None",
    "patches_graph": "torch.fx.Graph.create_node = lambda *a, **k: None",
    "patches_call": "torch.nn.Module.__call__ = lambda *a: 3",
    "patches_tensor": "torch.Tensor.shape = property(lambda self: 1 / 0)",
    "patches_time": "time.monotonic = lambda: 0; time.sleep = lambda s: None",
    "patches_os": "os.write = os.read = os.close = None",
    "default_dtype": "torch.set_default_dtype(torch.float64)",
    "default_device": "torch.set_default_device('meta')",
    "inference_mode": "torch.inference_mode().__enter__()",
    "threads": "torch.set_num_threads(64)",
    "raises_fds": "os.closerange(3, 256)",
    "closes_output": "os.close(0); os.close(1); os.close(2)",
    "closes_sys_output": "sys.stdout.close(); sys.stderr.close()",
    "no_output": "sys.stdout = sys.stderr = None",
    "traces": "sys.settrace(lambda *a: 1 / 0)",
    "profiles": "sys.setprofile(lambda *a: 1 / 0)",
    "audits": "sys.addaudithook(lambda *a: 1 / 0)",
    "excepts": "sys.excepthook = lambda *a: os._exit(5)",
    "exits_later": "import atexit; atexit.register(os._exit, 4)",
    "alarms": "signal.alarm(1)",
    "recursion_limit": "sys.setrecursionlimit(60)",
    "path": "sys.path[:] = []",
    "meta_path": "sys.meta_path[:] = []",
    "directory": "os.chdir('/')",
    "no_directory": "os.chdir(tempfile.mkdtemp()); os.rmdir(os.getcwd())",
    "umask": "os.umask(0o777)",
    "environment": "os.environ.clear()",
    "locale": "import locale; locale.setlocale(locale.LC_ALL, 'C')",
    "collects": "import gc; gc.set_threshold(1)",
    "warnings": "import warnings; warnings.simplefilter('error')",
    "switches": "sys.setswitchinterval(1000)",
    "limits": "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**20, 2**20))",
    "random": "import random; random.seed(0); torch.manual_seed(0)",
}
_WORDS = {
    "surrogate": "raise ValueError('\\ud800')",
    "escapes": "raise ValueError('\\x1b]0;title\\x07\\x1b[2J')",
    "null": "raise ValueError('a\\0b')",
    "no_text": "raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})()",
    "not_text": "raise type('E', (Exception,), {'__str__': lambda self: 3})()",
    "hanging_text": "raise type('E', (Exception,), {'__str__': lambda self: time.sleep(10**6)})()",
    "exits_in_text": "raise type('E', (Exception,), {'__str__': lambda self: os._exit(3)})()",
    "cause_of_itself": "e = ValueError('round'); e.__cause__ = e; raise e",
    "deep_cause": "e = None\nfor n in range(10**4):\n    f = ValueError(n); f.__cause__ = e; e = f\nraise e",
    "group": "raise BaseExceptionGroup('many', [ValueError(n) for n in range(10**4)])",
}
ACTS: dict[str, str] = {**_HANGS, **_DEATHS, **_AMOUNTS, **_LIES, **_WORDS}

CLASSES = {
    "getattr_raises": "def __getattr__(self, name): raise RuntimeError(name)",
    "getattr_recurses": "def __getattr__(self, name): return getattr(self, name + 'x')",
    "getattribute_exits": "def __getattribute__(self, name): os._exit(3)",
    "getattr_hangs": "def __getattr__(self, name): time.sleep(10**6)",
    "setattr_drops": "def __setattr__(self, name, value): pass",
    "del_hangs": "def __del__(self): time.sleep(10**6)",
    "del_exits": "def __del__(self): os._exit(3)",
    "repr_exits": "def __repr__(self): os._exit(3)",
    "repr_raises": "def __repr__(self): raise ValueError('no text')",
    "hash_raises": "def __hash__(self): raise TypeError('no hash')",
    "eq_hangs": "def __eq__(self, other): time.sleep(10**6)",
    "bool_exits": "def __bool__(self): os._exit(3)",
    "len_lies": "def __len__(self): return -1",
    "iter_without_end": "def __iter__(self): return iter(int, 1)",
    "class_getitem_hangs": "def __class_getitem__(cls, item): time.sleep(10**6)\nit = property(lambda self: Net[0])",
    "new_is_another": "def __new__(cls, *a): return 3",
    "init_subclass": "def __init_subclass__(cls): raise TypeError('no children')",
    "call_is_exit": "def __call__(self, *a): os._exit(3)",
    "modules_cycle": "def named_modules(self, *a, **k):\n    while True: yield 'x', self",
    "parameters_lie": "def parameters(self, *a): return iter([1, None])",
    "returns_itself": "def forward(self, x): return self",
    "returns_a_cycle": "def forward(self, x):\n    a = [x]; a.append(a); return a",
    "returns_much": "def forward(self, x): return [x] * 10**6",
    "nodes_without_end": "def forward(self, x):\n    while True: x = x + 1",
    "many_nodes": "def forward(self, x):\n    for _ in range(20000): x = x + 1\n    return x",
}
"""Members of the model's class."""


@dataclass(frozen=True)
class HostileModel:
    """File with a model ``Net``."""

    name: str
    text: str


def zoo() -> list[HostileModel]:
    """Return one model for each act, at the place that its number gives, and one for each member."""
    models = []
    for number, (name, act) in enumerate(ACTS.items()):
        place = PLACES[number % len(PLACES)]
        models.append(HostileModel(f"{name}_in_{place}", hostile_text({place: [act]})))
    models += (HostileModel(name, hostile_text({}, [member])) for name, member in CLASSES.items())
    return models


def random_model(random: Random) -> HostileModel:
    """Return a model that does several acts, at places drawn at random."""
    acts: dict[str, list[str]] = {}
    names = random.sample(sorted(ACTS), random.randint(2, 4))
    for name in names:
        acts.setdefault(random.choice(PLACES), []).append(ACTS[name])
    members = random.sample(sorted(CLASSES), random.choice((0, 0, 1)))
    text = hostile_text(acts, [CLASSES[name] for name in members])
    return HostileModel("_and_".join([*names, *members]), text)


def hostile_text(acts: dict[str, list[str]], members: list[str] | None = None) -> str:
    """Return the text of a file whose model does ``acts``, by place, and has ``members``."""
    given = members or []
    forward = "" if any(member.startswith("def forward") for member in given) else _FORWARD
    return _FILE.format(
        module=_block(acts.get("module", []), ""),
        body=_block([*acts.get("class", []), *given], "    "),
        init=_block(acts.get("init", []), "        "),
        forward=forward.format(act=_block(acts.get("forward", []), "        ")),
    )


_FILE = """\
import ctypes, os, signal, sys, tempfile, threading, time
import torch
from torch import nn

libc = ctypes.CDLL(None)
{module}


# fxlsp: Net()(torch.randn(2, 4))
class Net(nn.Module):
{body}

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 8)
{init}
{forward}
"""
_FORWARD = """\
    def forward(self, x):
        y = self.fc(x)
{act}
        return y
"""


def _block(statements: list[str], indentation: str) -> str:
    lines = [line for statement in statements for line in statement.splitlines()]
    return "\n".join(indentation + line for line in lines)
