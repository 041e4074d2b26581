"""``system.remove_orphan_files``: what killed writes have left goes, and nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.errors import InvalidArgumentError, TableNotFoundError
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Value
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert
from connectors.hive.connector import HiveConnector
from connectors.hive.write.inserts import STAGING
from connectors.hive.write.publish.publishing import REPLACED
from tests.connectors.hive.reading import make_session, read_table
from tests.connectors.hive.table_writer import create_table

_ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "ds": ["a", "b"]})
_OLD = time.time() - 90_000


def call(hive: HiveConnector, table: str = "t", **arguments: Value) -> list[str]:
    (procedure,) = (one for one in hive.procedures if one.name == "remove_orphan_files")
    given = {argument.name: argument.default for argument in procedure.arguments}
    found = procedure.function(make_session(hive), {**given, "schema_name": "s", "table_name": table, **arguments})
    return [Path(path).name for path in found["folder"].to_pylist()]


def left(folder: Path, name: str, age: float | None) -> Path:
    """A folder with a file, which was changed at ``age``; ``None`` is now."""
    made = folder / name
    made.mkdir()
    (made / "part.orc").write_bytes(b"rows")
    if age is not None:
        os.utime(made / "part.orc", (age, age))
        os.utime(made, (age, age))
    return made


def test_old_folders_of_writes_are_deleted(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, ["ds"])
    folder = tmp_path / "s" / "t"
    gone = [left(folder, f"{prefix}{'0a' * 16}", _OLD) for prefix in (STAGING, REPLACED)]
    kept = [
        left(folder, f"{STAGING}{'1b' * 16}", None),
        left(folder, f"{STAGING}mine", _OLD),
        left(folder, f"_{STAGING}{'2c' * 16}", _OLD),
        left(folder, ".hive-staging_x", _OLD),
    ]
    assert call(hive) == [gone[0].name]
    assert gone[1].exists(), "these may be the only rows there are"
    assert call(hive, delete_replaced=True) == [gone[1].name]
    assert [path.exists() for path in (*gone, *kept)] == [False, False, True, True, True, True]
    assert read_table(hive, "s", "t").num_rows == 2
    time.sleep(0.01)
    assert call(hive, retention_threshold="0s") == [kept[0].name]


def test_a_write_that_runs_keeps_its_folder(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, file_format="orc")
    with ReferenceQuery(hive) as query:
        insert = ReferenceInsert(query, SchemaTableName("s", "t"))
        fragments = insert.write(_ROWS)
        assert call(hive, retention_threshold="1h") == []
        insert.finish([fragments])
    assert read_table(hive, "s", "t").num_rows == 4


def test_what_is_not_understood_is_refused(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS)
    with pytest.raises(InvalidArgumentError, match="retention_threshold is 'soon'"):
        call(hive, retention_threshold="soon")
    with pytest.raises(TableNotFoundError):
        call(hive, "nope")
