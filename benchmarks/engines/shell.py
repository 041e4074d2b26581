"""The shell: its start to the prompt, completion over 10,000 tables, SHOW TABLES of them in a real metastore."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from statistics import median

import pexpect
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from catalog.metastore.model import Database, FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from catalog.plugins import discover_plugins
from catalog.registry import CatalogRegistry
from lakeport.session import Session
from lakeport.shell.completion.completer import SqlCompleter
from lakeport.shell.completion.names import NameCache
from lakeport.shell.output.formats import FORMATS
from lakeport.shell.runner import Runner
from lakeport.version import VERSION
from tests.hms import running_metastore

_GROUP = "shell"
_SCHEMA = "many"
_TYPED = ("SELECT * FROM ", "SELECT * FROM t", "SELECT * FROM table_09", "SELECT * FROM 999", "SELECT * FROM nope")
_PARQUET = "org.apache.hadoop.hive.ql.io.parquet"


def measure(size: Size, folder: Path) -> list[Figure]:
    """Medians; the metastore is PySpark's own, Hive 2.3."""
    figures = [_prompt(size, folder)]
    count = size.of(10_000, 50)
    with running_metastore(folder / "hms", heap="1g") as server:
        _fill(server.uri, folder / "data", count)
        registry = CatalogRegistry(discover_plugins(), VERSION)
        registry.register("hive", "hive", {"hive.metastore.uri": server.uri})
        with Session(registry) as session:
            figures += _completion(session, count)
            figures += _show_tables(size, session, count)
    return figures


def _prompt(size: Size, folder: Path) -> Figure:
    """From the start of the process to the prompt on the screen, while no Spark is there yet."""
    catalogs = folder / "catalogs"
    catalogs.mkdir()
    (catalogs / "mem.properties").write_text("connector.name=memory\n")
    program = "import sys; from lakeport.shell.main import main; sys.exit(main())"
    environment = {**os.environ, "TERM": "xterm", "XDG_STATE_HOME": str(folder), "PROMPT_TOOLKIT_NO_CPR": "1"}
    taken = []
    for _ in range(size.of(9, 1)):
        begun = time.perf_counter()
        shell = pexpect.spawn(
            sys.executable, ["-c", program, "shell", "--catalogs", str(catalogs)], env=environment, timeout=60
        )
        shell.expect_exact("lakeport>")
        taken.append(time.perf_counter() - begun)
        shell.close(force=True)
    return Figure(_GROUP, "start to prompt", median(taken), "s", 1.0)


def _completion(session: Session, count: int) -> list[Figure]:
    """A keystroke at the worst of some places, when the names are there and when they are fetched still."""
    cache = NameCache(session)
    completer = SqlCompleter(cache, lambda: ("hive", _SCHEMA))
    cold = max(_keystroke(completer, text) for text in _TYPED)
    while len(cache.tables("hive", _SCHEMA).names) < count:
        time.sleep(0.05)
    warm = max(median(_keystroke(completer, text) for _ in range(20)) for text in _TYPED)
    cache.close()
    return [
        Figure(_GROUP, f"completion, {count:,} tables", 1000 * warm, "ms", 50.0),
        Figure(_GROUP, f"completion while {count:,} tables are fetched", 1000 * cold, "ms", 50.0),
    ]


def _keystroke(completer: SqlCompleter, text: str) -> float:
    begun = time.perf_counter()
    list(completer.get_completions(Document(text), CompleteEvent(completion_requested=True)))
    return time.perf_counter() - begun


def _show_tables(size: Size, session: Session, count: int) -> list[Figure]:
    with Path(os.devnull).open("wb") as nowhere:
        runner = Runner(session, nowhere)
        taken = []
        for _ in range(size.of(9, 2)):
            begun = time.perf_counter()
            rows = runner.run(f"SHOW TABLES IN hive.{_SCHEMA}", FORMATS["aligned"])
            taken.append(time.perf_counter() - begun)
            assert rows == count
    return [
        Figure(_GROUP, f"SHOW TABLES, {count:,} tables", median(taken[1:]), "s", 1.0),
        Figure(_GROUP, f"SHOW TABLES, {count:,} tables, with Spark's start", taken[0], "s"),
    ]


def _fill(uri: str, folder: Path, count: int) -> None:
    storage = StorageDescriptor(
        (FieldSchema("a", "int"),),
        f"file://{folder}",
        f"{_PARQUET}.MapredParquetInputFormat",
        f"{_PARQUET}.MapredParquetOutputFormat",
        serde=SerDeInfo(f"{_PARQUET}.serde.ParquetHiveSerDe", Parameters.of({"serialization.format": "1"})),
    )
    metastore = connect_thrift(ThriftConfig(uri=uri, read_timeout=600))
    metastore.writes.create_database(Database(_SCHEMA, location=f"file://{folder}.db"))
    for number in range(count):
        parameters = Parameters.of({"EXTERNAL": "TRUE"})
        table = Table(
            _SCHEMA,
            f"table_{number:05}",
            storage=storage,
            partition_keys=(),
            parameters=parameters,
            table_type="EXTERNAL_TABLE",
        )
        metastore.writes.create_table(table)
    metastore.close()


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
