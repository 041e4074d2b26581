"""What the shell loads before its prompt is there: all else comes behind the prompt, or not at all."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lakeport.sample_session import sample_session

_AT_THE_PROMPT = """
import json, sys
from prompt_toolkit import PromptSession
from lakeport.shell.main import main

def prompt(self, *arguments, **settings):
    print(json.dumps(sorted(sys.modules)))
    raise EOFError

PromptSession.prompt = prompt
sys.exit(main(sys.argv[1:]))
"""
_LATER = (
    "pandas polars duckdb sqlglot pyspark py4j thrift IPython boto3 connectors.hive connectors.hudi pyarrow.parquet "
    "pyarrow.dataset pyarrow.fs"
)
"""Each takes from 20 ms to a second to load."""


@pytest.mark.parametrize("options", [[], ["--catalog", "hive", "--schema", "s"]])
def test_what_takes_long_to_load_is_not_there_before_the_prompt(tmp_path: Path, options: list[str]) -> None:
    for name, connector in (("hive", "hive"), ("hudi", "hudi"), ("mem", "memory")):
        needed = "" if name == "mem" else "hive.metastore.uri=thrift://localhost:1\n"
        (tmp_path / f"{name}.properties").write_text(f"connector.name={connector}\n{needed}")
    controller, terminal = pty.openpty()
    state = {"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _AT_THE_PROMPT, "shell", "--catalogs", str(tmp_path), *options],
            env={**os.environ, **state},
            stdin=terminal,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
    finally:
        os.close(terminal)
        os.close(controller)
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert "lakeport.shell.completion.completer" in loaded
    assert not loaded & set(_LATER.split())


_AFTER_THE_ANSWER = """
import json, sys
from lakeport.shell.main import main
code = main(sys.argv[1:])
print(json.dumps(sorted(sys.modules)))
sys.exit(code)
"""


@pytest.mark.slow
def test_what_an_answer_by_duckdb_does_not_load(tmp_path: Path) -> None:
    sample_session(tmp_path).close()
    done = subprocess.run(
        [sys.executable, "-c", _AFTER_THE_ANSWER, "sql", "--engine", "duckdb", "--catalogs", str(tmp_path / "catalogs"),
         "SELECT count(*) AS labels FROM hive.sales.labels"],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )  # fmt: skip
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert {"duckdb", "connectors.hive.connector"} <= loaded
    # pyarrow loads pandas where it is installed.
    unneeded = "polars pyspark py4j thrift fastavro prompt_toolkit pygments IPython boto3 connectors.hudi"
    assert not loaded & set(unneeded.split())
    assert not [name for name in loaded if name.startswith("connectors.hudi.")]
