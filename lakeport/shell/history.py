"""The history of inputs over all sessions, without secrets."""

from __future__ import annotations

import os
import re
from pathlib import Path

from prompt_toolkit.history import FileHistory

__all__ = ["ShellHistory", "may_hold_secret"]

_SECRET_WORD = r"(?:password|passwd|secret|token|credential|private[._-]?key|access[._-]?key|api[._-]?key)"
# The name of a secret in quotes, or with a value: 'fs.s3a.secret.key' = 'x', password => 'x', \set token x.
_SECRET = re.compile(
    rf"""['"`][^'"`]*{_SECRET_WORD}[^'"`]*['"`]|[\w.]*{_SECRET_WORD}[\w.]*\s*(?:=|:)|\\set\s+\w*{_SECRET_WORD}"""
    r"""|\w+://[^/\s'"]*:[^/\s'"]*@""",
    re.IGNORECASE,
)


def may_hold_secret(text: str) -> bool:
    """Whether a statement may contain a password, token or key; errs on the side of yes."""
    return _SECRET.search(text) is not None


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
