"""The directory of the shell's files of a user: history and Spark's log."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["state_directory"]


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
