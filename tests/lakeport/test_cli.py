"""The command ``lakeport`` as a process: exit codes, what goes to which stream, formats."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest


@pytest.fixture
def catalogs(tmp_path: Path) -> Path:
    folder = tmp_path / "catalogs"
    folder.mkdir()
    (folder / "mem.properties").write_text("connector.name=memory\n")
    return folder


def lakeport(
    *arguments: str | Path, text: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "import sys; from lakeport.shell.main import main; sys.exit(main())"]
    return subprocess.run(
        [*command, *map(str, arguments)],
        input=text.encode(),
        capture_output=True,
        timeout=180,
        check=False,
        env={**os.environ, **(env or {})},
    )


def test_statements_from_standard_input_until_the_first_error(catalogs: Path, tmp_path: Path) -> None:
    text = """
        -- results stay as they are printed; the error is elsewhere
        SELECT 'a;b' AS t, 41 + 1 AS n; USE mem.default; SHOW TABLES;
        EXPLAIN SELECT 1; SELECT * FROM nope; SELECT 'never';
    """
    done = lakeport("sql", "--catalogs", catalogs, text=text, env={"XDG_STATE_HOME": str(tmp_path / "state")})
    out = done.stdout.decode()
    assert done.returncode == 1
    assert out.startswith("  t  | n\n-----+----\n a;b | 42\n(1 row)\n namespace | tableName | isTemporary\n")
    assert "(0 rows)\n== Physical Plan ==\n" in out
    assert "never" not in out
    assert done.stderr.decode().splitlines() == [
        "error[TABLE_NOT_FOUND]: no table mem.default.nope",
        " --> line 4, column 41",
        "  |",
        "4 |         EXPLAIN SELECT 1; SELECT * FROM nope; SELECT 'never';",
        "  |                                         ^^^^",
    ]
    assert list((tmp_path / "state" / "lakeport").iterdir()) == []


def test_a_file_of_statements_to_parquet(catalogs: Path, tmp_path: Path) -> None:
    file = tmp_path / "q.sql"
    file.write_text("SET spark.sql.session.timeZone = UTC; SELECT id, current_schema() AS s FROM range(3)")
    done = lakeport(
        "sql", "-f", file, "--catalogs", catalogs, "--catalog", "mem", "--schema", "default",
        "--output-format", "parquet",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert pq.read_table(io.BytesIO(done.stdout)).to_pylist() == [{"id": n, "s": "default"} for n in range(3)]


@pytest.mark.parametrize(
    ("arguments", "env", "code", "says"),
    [
        (["sql", "SELECT 1"], {"JAVA_HOME": "/nowhere"}, 2, "JAVA_HOME is /nowhere"),
        (["sql", "SELECT 'a"], {}, 1, "inside of a quote"),
        (["sql", " ; -- nothing"], {}, 1, "no statement"),
        (["sql", "-f", "/nowhere.sql"], {}, 1, "cannot read /nowhere.sql: No such file"),
        (["sql", "SELECT 1", "-f", "x"], {}, 1, "give one of them"),
        (["sql", "SELECT 1", "--output-format", "xml"], {}, 1, "invalid choice: 'xml'"),
        (["sql", "SELECT 1", "--catalogs", "/nowhere"], {}, 1, "/nowhere is not a folder"),
        (["catalogs", "chek"], {}, 1, "invalid choice: 'chek'"),
        ([], {}, 1, "COMMAND"),
    ],
)
def test_misuse_is_one_line_and_an_exit_code(
    arguments: list[str], env: dict[str, str], code: int, says: str, tmp_path: Path
) -> None:
    done = lakeport(*arguments, env={"XDG_STATE_HOME": str(tmp_path), **env})
    [line] = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout) == (code, b"")
    assert line.startswith("error: ")
    assert says in line


def test_debug_shows_the_trace() -> None:
    done = lakeport("sql", "SELECT 1", "--catalogs", "/nowhere", "--debug")
    assert done.returncode == 1
    assert b"Traceback" in done.stderr
    assert lakeport("--version").stdout.startswith(b"lakeport ")


def test_catalogs_check(catalogs: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        port = taken.getsockname()[1]
        path = tmp_path / "metastore.db"
        (catalogs / "lake.properties").write_text(
            f"connector.name=hudi\nhive.metastore=embedded\nhive.metastore.embedded.path={path}\n"
        )
        done = lakeport("catalogs", "check", "--catalogs", catalogs)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.decode().splitlines() == [
            f"lake  hudi    ok      1 schema, metastore: embedded in {path}",
            "mem   memory  ok      1 schema",
        ]
        (catalogs / "down.properties").write_text(
            f"connector.name=hive\nhive.metastore.uri=thrift://127.0.0.1:{port}\n"
            "hive.metastore.thrift.client.max-retries=0\n"
        )
        (catalogs / "typo.properties").write_text("connector.name=hive\nhive.metastore.ury=thrift://x:1\n")
        done = lakeport("catalogs", "check", "--catalogs", catalogs)
    lines = {line.split()[0]: line for line in done.stdout.decode().splitlines()}
    assert done.returncode == 2
    assert "FAILED" in lines["down"]
    assert f"127.0.0.1:{port}" in lines["down"]
    assert (
        "typo.properties, line 2: unknown property 'hive.metastore.ury'; did you mean 'hive.metastore.uri'"
        in (lines["typo"])
    )
    assert "ok" in lines["mem"]
