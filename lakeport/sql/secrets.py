"""Statements that may hold a secret, which no history and no log keeps."""

from __future__ import annotations

import re

__all__ = ["may_hold_secret"]

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
