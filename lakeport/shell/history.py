"""The history of inputs over all sessions, without secrets."""

from __future__ import annotations

import os
from pathlib import Path

from prompt_toolkit.history import FileHistory

from lakeport.sql.secrets import may_hold_secret

__all__ = ["ShellHistory"]


class ShellHistory(FileHistory):
    """A file of statements that only its user may read; inputs that may hold a secret stay in memory.

    Args:
        path: The file; created with the first input.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))

    def store_string(self, string: str) -> None:
        """Appends to the file; ignores a file that cannot be written."""
        if may_hold_secret(string):
            return
        try:
            os.close(os.open(self.filename, os.O_CREAT | os.O_WRONLY, 0o600))
            super().store_string(string)
        except OSError:
            return
