"""Memory of this process, and of those that Spark starts (Linux's ``/proc``)."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["forget_own_peak", "forget_peaks", "own_peak", "peak_of_python_tasks"]


def own_peak() -> float | None:
    """Peak memory of this process, megabytes; ``None`` where it is unknown."""
    peak = _status(Path("/proc/self")).get("VmHWM")
    return None if peak is None else float(peak.split()[0]) / 1024


def forget_own_peak() -> None:
    """Begins anew with what ``own_peak`` tells: from the memory that this process holds now."""
    _forget("self")


def peak_of_python_tasks() -> float | None:
    """Peak memory of the largest living child Python process, megabytes; ``None`` where it is unknown.

    Workers are used again, so those of the last query still live. What they share with the process that they were
    forked from is counted.
    """
    return max((float(status["VmHWM"].split()[0]) / 1024 for status in _python_tasks().values()), default=None)


def forget_peaks() -> None:
    """Begins anew with what ``peak_of_python_tasks`` tells: from the memory that each process holds now."""
    for pid in _python_tasks():
        _forget(str(pid))


def _forget(process: str) -> None:
    with suppress(OSError):
        # Linux's proc(5): 5 sets the peak to the present size.
        Path(f"/proc/{process}/clear_refs").write_text("5")


def _python_tasks() -> dict[int, dict[str, str]]:
    if not Path("/proc/self/status").exists():
        return {}
    statuses = {int(path.name): _status(path) for path in Path("/proc").iterdir() if path.name.isdigit()}
    own = os.getpid()
    return {
        pid: status
        for pid, status in statuses.items()
        if pid != own and "VmHWM" in status and status["Name"].startswith("python") and _descends(pid, own, statuses)
    }


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
