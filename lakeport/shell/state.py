"""The directory of the shell's files of a user: history and Spark's log."""

from __future__ import annotations

import os
import re
import tempfile
import time
from pathlib import Path

__all__ = ["spark_log", "state_directory"]

_LOG = re.compile(r"spark-(\d+)\.log")
_KEPT_SECONDS = 86400.0
"""A log whose process has ended without removing it is kept for a day, to be read."""


def state_directory() -> Path:
    """``$XDG_STATE_HOME/lakeport``, else ``~/.local/state/lakeport``, created if missing, else a temporary one."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    folder = Path(base, "lakeport")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass  # no home, or one that is read-only
    return Path(tempfile.mkdtemp(prefix="lakeport-"))


def spark_log() -> Path:
    """The log of this process's Spark, which is not made here; old ones of processes that were killed are removed."""
    folder = state_directory()
    for file in folder.glob("spark-*.log"):
        match = _LOG.fullmatch(file.name)
        if match is not None and not _is_running(int(match.group(1))):
            _remove_old(file)
    return folder / f"spark-{os.getpid()}.log"


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # of another user
    return True


def _remove_old(file: Path) -> None:
    try:
        if time.time() - file.stat().st_mtime > _KEPT_SECONDS:
            file.unlink()
    except OSError:
        return  # another process was faster
