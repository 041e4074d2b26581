"""Maven, which fetches the servers."""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
from pathlib import Path

__all__ = ["run_maven"]


def run_maven(*arguments: str) -> None:
    """Runs Maven, one at a time of all processes of this user: it spoils its repository where two fetch one file.

    Raises:
        RuntimeError: Maven failed; its last lines.
    """
    lock = Path(tempfile.gettempdir()) / f"lakeport-tests-maven-{os.getuid()}.lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        command = ["mvn", "-q", "-B", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-3000:]}")
