"""One statement of a client of Spark Connect, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.lakeport.server.clients import RunningServer
from tests.paths import PROJECT

__all__ = ["connect_rows"]


def connect_rows(server: RunningServer, text: str, user: str) -> object:
    """The rows of a statement, or the text of its error."""
    url = f"{server.connect_url}/;user_id={user}"
    command = [sys.executable, "-m", "tests.lakeport.server.connect_query", url, text]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def _ask(url: str, text: str) -> object:
    session = SparkSession.builder.remote(url).getOrCreate()
    try:
        return [list(row) for row in session.sql(text).collect()]
    except PySparkException as error:
        return str(error)
    finally:
        session.stop()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_ask(sys.argv[1], sys.argv[2])) + "\n")
