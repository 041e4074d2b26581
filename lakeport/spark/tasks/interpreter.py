"""The Python that Spark starts our tasks with: that it has Lakeport is found out before the first query."""

from __future__ import annotations

import os
import subprocess
import sys

from connector_spi.errors import NotSupportedError
from lakeport.error_codes import TASK_PYTHON

__all__ = ["task_python"]

_DEFAULT = "python3"
_SETTING = "PYSPARK_PYTHON"
_PROBE = "import sys; print('%d.%d' % sys.version_info[:2]); import lakeport.spark.tasks.task"
_SECONDS = 60.0


def task_python(chosen: str, master: str) -> str:
    """The program to start tasks of ours with.

    Where none was chosen and the tasks run on this machine it is this process's own: Spark would take the
    ``python3`` of the PATH. A chosen one is tried out in local mode; on a cluster it is a program of other machines.

    Args:
        chosen: What Spark starts its Python tasks with.
        master: Spark's master.

    Raises:
        NotSupportedError: It cannot be started, has no Lakeport, or is of another version than this Python.
    """
    if chosen == _DEFAULT and _SETTING not in os.environ and master.startswith("local"):
        return sys.executable
    if master.startswith("local-cluster") or not master.startswith("local") or chosen == sys.executable:
        return chosen
    _try(chosen)
    return chosen


def _try(program: str) -> None:
    try:
        done = subprocess.run([program, "-c", _PROBE], capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _refused(program, f"does not run ({error})") from error
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    version = done.stdout.strip()
    if version and version != here:
        raise _refused(program, f"is Python {version}, and this is Python {here}")
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise _refused(program, f"cannot import Lakeport ({lines[-1] if lines else f'exit code {done.returncode}'})")


def _refused(program: str, why: str) -> NotSupportedError:
    return NotSupportedError(
        f"Spark's tasks are to run in {program}, which {why}; before Spark starts, set {_SETTING}={sys.executable}, "
        "or install Lakeport there",
        TASK_PYTHON,
    )
