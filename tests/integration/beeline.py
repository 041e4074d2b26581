"""Hive's own command line, beeline, from the jars that PySpark ships."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyspark

from tests.hms import java_command

__all__ = ["beeline"]


def beeline(
    folder: Path,
    url: str,
    statements: Sequence[str],
    options: Sequence[str] = (),
    java: Mapping[str, str] | None = None,
) -> str:
    """What beeline prints, as CSV, and its errors.

    Args:
        folder: For temporary files, and with its settings of Hadoop.
        url: Of the server.
        statements: To run one after the other, and commands of beeline.
        options: Further options.
        java: Properties of Java's system.
    """
    classes = f"{folder}:{Path(pyspark.__file__).parent / 'jars' / '*'}"
    properties = [f"-D{name}={value}" for name, value in (java or {}).items()]
    start = [*java_command(folder), *properties, "-cp", classes, "org.apache.hive.beeline.BeeLine", "-u", url]
    given = [word for one in statements for word in ("-e", one)]
    done = subprocess.run(
        [*start, *options, "--outputformat=csv2", "--silent=true", *given],
        env={**os.environ, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    return done.stdout + done.stderr
