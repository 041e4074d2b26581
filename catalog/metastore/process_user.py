"""Who runs this process."""

from __future__ import annotations

import getpass
import os

__all__ = ["process_user"]


def process_user() -> str:
    """The name of the process's user: of the environment (``LOGNAME``, ``USER``), else of the system.

    A container may run under a user id that has no name: then it is the number, such as ``1000720000``.
    """
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid())
