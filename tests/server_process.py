"""Servers that tests start as processes of their own, and stop."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

__all__ = ["running_process"]

_END_SECONDS = 20


@contextmanager
def running_process(command: Sequence[str], folder: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a command in ``folder`` until the block ends; what it prints goes to ``log``."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
