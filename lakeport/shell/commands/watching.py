r"""``\watch``."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime

from connector_spi.errors import InvalidArgumentError
from lakeport.shell.shell_session import ShellSession

__all__ = ["watch"]


def watch(shell: ShellSession, rest: str) -> None:
    """Repeats the last statement, with the time above each result, until Ctrl-C or an error.

    Raises:
        InvalidArgumentError: There was no statement, or the pause is not a number of seconds.
        ConnectorError, PySparkException: The statement failed.
    """
    try:
        pause = float(rest or 2)
    except ValueError:
        pause = -1.0
    if not 0.1 <= pause <= 86400:
        raise InvalidArgumentError(f"met '{rest}', expected seconds between two runs, 0.1 to 86400")
    if not shell.last:
        raise InvalidArgumentError("there was no statement yet; run one first")
    before = shell.display.settings
    # A pager would wait for the user.
    shell.display.settings = replace(before, pager="off")
    every = f"every {pause:g} s, Ctrl-C ends"
    try:
        while True:
            shell.execute(shell.last, title=f"{datetime.now():%Y-%m-%d %H:%M:%S} ({every})")
            time.sleep(pause)
    except KeyboardInterrupt:
        print(flush=True)
    finally:
        shell.display.settings = before
