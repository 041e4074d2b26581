"""The command ``lakeport``: exit codes, what goes to which stream, formats.

What a process of its own would not add to is called in this one.
"""

from __future__ import annotations

import io
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from catalog.metastore.embedded.factory import open_embedded
from catalog.metastore.model import Database
from lakeport.shell.main import main

COMMAND = [sys.executable, "-c", "import sys; from lakeport.shell.main import main; sys.exit(main())"]


@pytest.fixture
def catalogs(tmp_path: Path) -> Path:
    folder = tmp_path / "catalogs"
    folder.mkdir()
    (folder / "mem.properties").write_text("connector.name=memory\n")
    return folder


def lakeport(
    *arguments: str | Path, text: str = "", env: dict[str, str] | None = None, folder: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=text.encode(),
        capture_output=True,
        timeout=180,
        check=False,
        cwd=folder,
        env={**os.environ, **(env or {})},
    )


@dataclass(frozen=True, slots=True)
class Done:
    """How a call ended, by the names of a process's end."""

    returncode: int
    stdout: bytes
    stderr: bytes


def called(*arguments: str | Path, env: dict[str, str] | None = None, folder: Path | None = None) -> Done:
    """The command as a function; what it needs Java for ends in an error."""
    raw_out, raw_err = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(raw, "utf-8", write_through=True) for raw in (raw_out, raw_err))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        if folder is not None:
            patch.chdir(folder)
        try:
            code = main([*map(str, arguments)])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    return Done(code, raw_out.getvalue(), raw_err.getvalue())


@pytest.mark.slow
@pytest.mark.spark
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
    assert "(0 rows)\nPlan\n  Project" in out
    assert "never" not in out
    assert done.stderr.decode().splitlines() == [
        "error[TABLE_NOT_FOUND]: no table mem.default.nope",
        " --> line 4, column 41",
        "  |",
        "4 |         EXPLAIN SELECT 1; SELECT * FROM nope; SELECT 'never';",
        "  |                                         ^^^^",
    ]
    assert list((tmp_path / "state" / "lakeport").iterdir()) == []


@pytest.mark.slow
@pytest.mark.spark
def test_a_file_of_statements_to_parquet_with_a_profile(catalogs: Path, tmp_path: Path) -> None:
    file = tmp_path / "q.sql"
    file.write_text(
        "SET SESSION mem.task_pushdown = true; EXPLAIN ANALYZE SELECT 1; "
        "SELECT x / 2 AS half, current_schema AS s FROM (VALUES 0, 1, 2, 3) AS t(x) ORDER BY x"
    )
    config = tmp_path / "config.toml"
    config.write_text(
        f"catalogs = '{catalogs}'\n[profiles.p]\ncatalog = 'mem'\nschema = 'nowhere'\ndialect = 'trino'\n"
    )
    done = lakeport(
        "sql", "-f", file, "--profile", "p", "--session", "mem.native_reader=false", "--schema", "default",
        env={"LAKEPORT_CONFIG": str(config), "LAKEPORT_OUTPUT_FORMAT": "parquet"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert pq.read_table(io.BytesIO(done.stdout)).to_pylist() == [{"half": n // 2, "s": "default"} for n in range(4)]


@pytest.mark.slow
@pytest.mark.spark
def test_ctrl_c_cancels_and_ends(catalogs: Path) -> None:
    command = [*COMMAND, "sql", "--catalogs", str(catalogs), "SELECT 1 AS first; SELECT count(*) FROM range(1e15)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"first"
        for _ in range(3):
            process.stdout.readline()
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"cancelled\n")


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_ctrl_c_while_spark_starts_ends_java(catalogs: Path, tmp_path: Path, seconds: float) -> None:
    """As soon as the process of Java is there, and while Spark starts in it."""
    mark = f"{tmp_path}/warehouse"
    command = [*COMMAND, "sql", "--catalogs", str(catalogs), "--session", f"spark.sql.warehouse.dir={mark}", "SELECT 1"]
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as process:
        _wait_until(lambda: len(_processes_with(mark)) > 1)
        time.sleep(seconds)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        took = time.monotonic() - begun
    assert (process.returncode, out, err) == (130, b"", b"cancelled\n")
    assert took < 8, f"it took {took:.1f} s to end"
    _wait_until(lambda: not _processes_with(mark))
    assert list((tmp_path / "lakeport").glob("*")) == []


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize(
    ("setting", "code", "says", "logs"),
    [
        ("spark.sql.ansi.enabled=maybe", 1, "does not take the setting spark.sql.ansi.enabled: ", 0),
        ("spark.driver.memory=lots", 2, "Invalid maximum heap size: -Xmxlots", 1),
    ],
)
def test_a_setting_that_stops_spark_is_named(
    catalogs: Path, tmp_path: Path, setting: str, code: int, says: str, logs: int
) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path)}
    done = lakeport("sql", "SELECT 1", "--catalogs", catalogs, "--session", setting, env=state)
    [line] = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout) == (code, b"")
    assert says in line
    found = list((tmp_path / "lakeport").iterdir())
    assert [stat.S_IMODE(log.stat().st_mode) for log in found] == [0o600] * logs


@pytest.mark.slow
@pytest.mark.spark
def test_variables_commands_and_rows_without_a_header(catalogs: Path) -> None:
    done = lakeport(
        "sql", "--catalogs", catalogs, "--output-format", "csv", "--no-header", "-v", "word=it's", "-v", "n=2",
        "SELECT :'word' AS a, :n + 1 AS b; USE mem.default;\n\\echo :n\n\\c\nSELECT 2 AS c; SELECT :n AS d \\gx",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == "it's,3\n2\nmem.default\n2\n-[ RECORD 1 ]\nd | 2\n(1 row)\n"


@pytest.mark.slow
def test_commands_start_no_spark(catalogs: Path) -> None:
    text = "\\l\n\\dn mem\n\\d mem.default.nope"
    done = lakeport("sql", "--catalogs", catalogs, text, env={"JAVA_HOME": "/nowhere"})
    assert done.stdout.decode().startswith(" catalog | connector\n---------+-----------\n mem     | memory\n(1 row)\n")
    [line] = done.stderr.splitlines()
    assert (done.returncode, b"no table mem.default.nope" in line) == (1, True)


@pytest.mark.slow
def test_a_reader_that_has_enough(catalogs: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "catalogs", "show", "--defaults", "--catalogs", str(catalogs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
    assert (process.returncode, err) == (0, b"")


@pytest.mark.parametrize(
    ("arguments", "env", "code", "says"),
    [
        (["sql", "SELECT 'a"], {}, 1, "within a quote"),
        (["sql", " ; -- nothing"], {}, 1, "no statement"),
        (["sql", "-f", "/nowhere.sql"], {}, 1, "cannot read /nowhere.sql: No such file"),
        (["sql", "SELECT 1", "-f", "x"], {}, 1, "give one of them"),
        (["sql", "SELECT 1", "--no-header"], {}, 1, "is for the formats csv and tsv; met aligned"),
        (["sql", "SELECT 1", "-v", "x"], {}, 1, "-v x: expected NAME=VALUE"),
        (["sql", "SELECT 1", "--output-format", "xml"], {}, 1, "invalid choice: 'xml'"),
        (["sql", "SELECT 1", "--catalogs", "/nowhere"], {}, 1, "/nowhere is not a directory"),
        (["catalogs", "chek"], {}, 1, "invalid choice: 'chek'"),
        (["sql", "SELECT 1", "--session", "hve.x=1"], {}, 1, "no catalog 'hve'; did you mean 'hive'"),
        (["sql", "SELECT 1", "--profile", "prod"], {"XDG_CONFIG_HOME": "/nowhere"}, 1, "no profile 'prod'"),
        (["catalogs", "add", "l", "hiv"], {}, 1, "unknown connector 'hiv'; did you mean 'hive'"),
        (["catalogs", "add", "l", "hive", "hive.metastore.ury=x"], {}, 1, "did you mean 'hive.metastore.uri'"),
        (["catalogs", "add", "l", "hive", "x"], {}, 1, "expected KEY=VALUE"),
        (["catalogs", "add", "l", "hive"], {}, 1, "needs hive.metastore.uri"),
        (["catalogs", "add", "l", "hudi", "hive.metastore=embedded"], {}, 1, "needs hive.metastore.embedded.path"),
        (["catalogs", "add", "spark_catalog", "memory"], {}, 1, "the name of Spark's own"),
        ([], {}, 1, "COMMAND"),
    ],
)
def test_misuse_is_one_line_and_an_exit_code(
    arguments: list[str], env: dict[str, str], code: int, says: str, tmp_path: Path
) -> None:
    done = called(*arguments, env={"XDG_STATE_HOME": str(tmp_path), **env})
    [line] = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout) == (code, b"")
    assert line.startswith("error")
    assert says in line


@pytest.mark.slow
@pytest.mark.process
def test_a_java_that_is_not_there_is_one_line_and_an_exit_code(tmp_path: Path) -> None:
    """In a process of its own: where a Spark runs already, nobody looks for Java."""
    done = lakeport("sql", "SELECT 1", env={"XDG_STATE_HOME": str(tmp_path), "JAVA_HOME": "/nowhere"})
    [line] = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout) == (2, b"")
    assert line.startswith("error")
    assert "JAVA_HOME is /nowhere" in line


def test_debug_shows_the_trace() -> None:
    done = lakeport("sql", "SELECT 1", "--catalogs", "/nowhere", "--debug")
    assert done.returncode == 1
    assert b"Traceback" in done.stderr


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["--version"])
    assert capsys.readouterr().out.startswith("lakeport ")


def test_catalogs_check(catalogs: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        port = taken.getsockname()[1]
        path = tmp_path / "metastore.db"
        with closing(open_embedded(path)) as metastore:
            metastore.writes.create_database(Database("sales"))
        (catalogs / "lake.properties").write_text(
            f"connector.name=hudi\nhive.metastore=embedded\nhive.metastore.embedded.path={path}\n"
        )
        done = called("catalogs", "check", "--catalogs", catalogs)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.decode().splitlines() == [
            f"lake  hudi    ok      2 schemas, metastore: embedded in {path}",
            "mem   memory  ok      1 schema",
        ]
        (catalogs / "down.properties").write_text(
            f"connector.name=hive\nhive.metastore.uri=thrift://127.0.0.1:{port}\n"
            "hive.metastore.thrift.client.max-retries=0\n"
        )
        (catalogs / "typo.properties").write_text("connector.name=hive\nhive.metastore.ury=thrift://x:1\n")
        done = called("catalogs", "check", "--catalogs", catalogs)
    lines = {line.split()[0]: line for line in done.stdout.decode().splitlines()}
    assert done.returncode == 2
    assert "FAILED" in lines["down"]
    assert f"127.0.0.1:{port}" in lines["down"]
    assert (
        "typo.properties, line 2: unknown property 'hive.metastore.ury'; did you mean 'hive.metastore.uri'"
        in (lines["typo"])
    )
    assert "ok" in lines["mem"]


@pytest.mark.parametrize("connector", ["hive", "hudi"])
def test_a_check_changes_nothing(connector: str, catalogs: Path, tmp_path: Path) -> None:
    path = tmp_path / "warehose" / "metastore.db"
    (catalogs / "lake.properties").write_text(
        f"connector.name={connector}\nhive.metastore=embedded\nhive.metastore.embedded.path={path}\n"
    )
    done = called("catalogs", "check", "--catalogs", catalogs)
    [line, _] = done.stdout.decode().splitlines()
    assert done.returncode == 1
    assert "FAILED" in line
    assert f"no embedded metastore {path}; check hive.metastore.embedded.path" in line
    assert not path.parent.exists()


def test_a_check_in_an_empty_directory_leaves_it_empty(tmp_path: Path) -> None:
    done = called("catalogs", "check", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().splitlines() == [
        f"{name}  {name}  ok      1 schema, metastore: none yet; the first schema or table creates it"
        for name in ("hive", "hudi")
    ]
    assert list(tmp_path.iterdir()) == []


def test_defaults_are_shown_as_files_have_them(catalogs: Path) -> None:
    (catalogs / "lake.properties").write_text("connector.name=hive\nhive.metastore.uri=thrift://h:9083\n")
    done = called("catalogs", "show", "lake", "--defaults", "--catalogs", catalogs)
    shown = {line.split()[0]: line for line in done.stdout.decode().splitlines() if "not set, default" in line}
    assert " 10s " in shown["hive.metastore.thrift.client.connect-timeout"]
    assert " 256MB " in shown["hive.metastore.thrift.client.max-message-size"]


def test_a_file_with_the_name_of_sparks_own_catalog(catalogs: Path) -> None:
    (catalogs / "spark_catalog.properties").write_text("connector.name=memory\n")
    done = called("catalogs", "check", "--catalogs", catalogs)
    assert done.returncode == 1
    assert b"the name of Spark's own" in done.stdout


def test_catalogs_add_looks_for_named_files_beside_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    arguments = ["catalogs", "add", "--catalogs", str(folder), "lake", "hive", "hive.metastore.uri=thrift://h:9083"]
    assert main([*arguments, "s3.aws-secret-key=${FILE:key.txt}", "s3.aws-access-key=k"]) == 1
    assert str(folder / "key.txt") in capsys.readouterr().err
    (folder / "key.txt").write_text("hush")
    assert main([*arguments, "s3.aws-secret-key=${FILE:key.txt}", "s3.aws-access-key=k"]) == 0
    assert "s3.aws-secret-key=${FILE:key.txt}" in (folder / "lake.properties").read_text()


def test_catalogs_add_and_show(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    arguments = ("catalogs", "add", "lake", "hive", "hive.metastore.uri=thrift://h:9083")
    secrets = ("s3.aws-secret-key=hush-1", "s3.aws-access-key=${ENV:LAKE_KEY}")
    done = called(*arguments, *secrets, "--catalogs", folder, env={"LAKE_KEY": "hush-2"})
    assert (done.returncode, done.stdout.decode()) == (0, f"wrote {folder / 'lake.properties'}\n")
    assert done.stderr.decode() == (
        f"warning: s3.aws-secret-key is a secret in clear text in {folder / 'lake.properties'}; "
        "better: s3.aws-secret-key=${ENV:LAKE_S3_AWS_SECRET_KEY}\n"
    )
    again = called(*arguments, "--catalogs", folder)
    assert again.returncode == 1
    assert b"--replace overwrites it" in again.stderr
    file = folder / "lake.properties"
    file.write_text(file.read_text() + "hive.metastore.ury=hush-3\n")
    (folder / "broken.properties").write_text("x\n")
    done = called("catalogs", "show", "lake", "--catalogs", folder)
    assert done.returncode == 0
    assert b"hush" not in done.stdout + done.stderr
    assert [line.split(maxsplit=2) for line in done.stdout.decode().splitlines()] == [
        ["lake", "(hive)", f"{folder / 'lake.properties'}"],
        ["hive.metastore.uri", "thrift://h:9083", "line 2"],
        ["s3.aws-secret-key", "(hidden)", "line 3"],
        ["s3.aws-access-key", "${ENV:LAKE_KEY}", "line 4"],
        ["hive.metastore.ury", "(hidden)", "line 5, unknown property; did you mean 'hive.metastore.uri'?"],
    ]
    every = called("catalogs", "show", "--defaults", "--catalogs", folder)
    assert every.returncode == 1
    assert b"broken.properties" in every.stderr
    assert b"not set, default" in every.stdout


def _processes_with(mark: str) -> list[int]:
    """Ids of the processes whose command line has a text."""
    listed = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,args="], capture_output=True, text=True, check=True).stdout
    return [int(line.split(None, 1)[0]) for line in listed.splitlines() if mark in line]


def _wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)
