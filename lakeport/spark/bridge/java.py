"""Checks for a suitable Java before Spark starts, since Spark's own failure is a long stack trace."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from connector_spi.errors import ExternalError
from lakeport.error_codes import JAVA_NOT_FOUND, JAVA_TOO_OLD

__all__ = ["OLDEST_JAVA", "check_java"]

OLDEST_JAVA = 17
"""The oldest Java that Spark 4 supports."""

_VERSION = re.compile(r'version "(\d+)(?:\.(\d+))?')
_INSTALL = "install Java 17 or 21, such as the package openjdk-17-jre-headless"


def check_java() -> int:
    """The major version of the Java that Spark will use: that of ``JAVA_HOME``, else of the ``PATH``.

    Raises:
        ExternalError: There is no Java, or it is too old; the message says what to install.
    """
    java = _find()
    try:
        ran = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ExternalError(f"{java} does not run ({error}); {_INSTALL}", JAVA_NOT_FOUND) from error
    match = _VERSION.search(ran.stderr + ran.stdout)
    if match is None:
        raise ExternalError(f"{java} -version printed no version; {_INSTALL}", JAVA_NOT_FOUND)
    # Until 8 the version was written 1.8.
    major = int(match.group(2) or 0) if match.group(1) == "1" else int(match.group(1))
    if major < OLDEST_JAVA:
        raise ExternalError(
            f"Spark needs Java {OLDEST_JAVA} or later, but {java} is Java {major}; {_INSTALL}, "
            "and set JAVA_HOME to its directory",
            JAVA_TOO_OLD,
        )
    return major


def _find() -> str:
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home, "bin", "java")
        if not java.is_file():
            raise ExternalError(
                f"JAVA_HOME is {home}, which has no bin/java; set it to the directory of Java {OLDEST_JAVA} or later, "
                "or unset it to use the java of the PATH",
                JAVA_NOT_FOUND,
            )
        return str(java)
    found = shutil.which("java")
    if found is None:
        raise ExternalError(
            f"Spark needs Java {OLDEST_JAVA} or later, but found none; {_INSTALL}, or use the engine duckdb, which "
            "needs none: lakeport.connect(engine='duckdb')",
            JAVA_NOT_FOUND,
        )
    return found
