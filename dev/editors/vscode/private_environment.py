"""Test of the package without compiled dependencies.

It creates an environment of its own, once the user agrees.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from dev.editors.vscode.endings import is_killed
from dev.editors.vscode.installation import installation
from dev.editors.vscode.suites import make_interpreter
from dev.editors.vscode.tools import Tools
from dev.editors.vscode.user import User
from dev.editors.vscode.workbench import workbench


async def run_private_environment(tools: Tools, package: Path, model: str, pictures: Path) -> None:
    """Refuse the environment, then allow it, and read the first shapes.

    Raises:
        TimeoutError: something that a user should see does not appear.
        AssertionError: something was created without consent.
        LeftoverError: processes outlived the editor.
    """
    with tempfile.TemporaryDirectory() as temporary, installation(tools, {"fxlsp.limits.seconds": 60}) as installed:
        await installed.install(package)
        folder = Path(temporary)
        (folder / "net.py").write_text(model, encoding="utf-8")
        make_interpreter(folder / ".venv")
        made = installed.home / "data" / "User" / "globalStorage" / "fxlsp.fxlsp"
        async with workbench(installed, folder) as bench:
            user = User(bench, pictures)
            try:
                await user.waits_for_the_editor()
                await user.opens("net.py")
                await user.sees(".notification-toast", "in an environment of its own")
                await user.picture("private-environment")
                await user.click(".notification-toast .monaco-button", "Not Now")
                await user.sees(".notification-toast", "its environment was not made")
                await user.reads_the_status("fxlsp is not running", "Restart")
                assert not list(made.glob("python-*")), "made without consent"
                await user.runs_command("fxlsp: Restart the Server")
                await user.click(".notification-toast .monaco-button", "Make It")
                await user.sees(".view-line", "(2, 64, 31, 31)")
                (_,) = made.glob("python-*/complete")
                await is_killed(bench)
            except BaseException:
                await user.picture("private-environment-failed")
                raise
    print("passed private environment: refused, then made; nothing is left when VS Code is killed", flush=True)
