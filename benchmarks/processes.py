"""Memory of the processes that Spark starts (Linux's ``/proc``)."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["peak_of_python_tasks"]


def peak_of_python_tasks() -> float | None:
    """The most memory that a living Python process below this one has held, megabytes; ``None`` where none is told.

    Workers are used again, so those of the last query still live. What they share with the process that they were
    forked from is counted.
    """
    if not Path("/proc/self/status").exists():
        return None
    statuses = {int(path.name): _status(path) for path in Path("/proc").iterdir() if path.name.isdigit()}
    own = os.getpid()
    peaks = [
        float(status["VmHWM"].split()[0]) / 1024
        for pid, status in statuses.items()
        if pid != own and "VmHWM" in status and status["Name"].startswith("python") and _descends(pid, own, statuses)
    ]
    return max(peaks, default=None)


def _status(path: Path) -> dict[str, str]:
    try:
        lines = (path / "status").read_text().splitlines()
    except OSError:
        # It ended meanwhile.
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _descends(pid: int, ancestor: int, statuses: dict[int, dict[str, str]]) -> bool:
    while pid and pid != ancestor:
        pid = int(statuses.get(pid, {}).get("PPid", "0"))
    return pid == ancestor
