"""What the figures were taken on, and what processes hold."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

__all__ = ["machine_lines", "resident_megabytes"]


def machine_lines() -> list[str]:
    """Cores, memory, versions, load and date; starts Java once for its version."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    return [
        f"date: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        f"machine: {os.cpu_count()} cores, {memory:.0f} GiB memory, {platform.system()} {platform.machine()}",
        f"load before (1, 5, 15 minutes): {load}",
        f"Python {platform.python_version()}, Spark {version('pyspark')}, pyarrow {version('pyarrow')}, {_java()}",
    ]


def resident_megabytes(pid: int) -> float:
    """Memory of a process that is in RAM."""
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        [line] = [line for line in status.read_text().splitlines() if line.startswith("VmRSS:")]
        return int(line.split()[1]) / 1024
    done = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None:
        return "no Java"
    done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    return (done.stderr or done.stdout).splitlines()[0].replace('"', "").replace(" version", "")
