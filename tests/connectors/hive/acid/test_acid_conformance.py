"""The conformance suite over transactional tables, of ACID files and of files older than the transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pytest
from pyarrow import orc

from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Value
from connector_spi.testing import Behaviour, ReferenceQuery
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.table_writer import create_table
from tests.connectors.hive.test_conformance import HiveConformance

BUCKET_0 = 536870912


class AcidConformance(HiveConformance):
    """Each version is a write id; rows come in deltas. Column statistics are checked with plain tables."""

    missing_behaviours: ClassVar[frozenset[Behaviour]] = frozenset(
        {
            Behaviour.CHANGES,
            Behaviour.EXPRESSION_PUSHDOWN,
            Behaviour.LIMIT,
            Behaviour.STREAMING,
        }
    )
    # Some are before 1970 and no whole second, which ORC refuses.
    refused_in_inserts = HiveConformance.refused_in_inserts | {Behaviour.TYPE_TIMESTAMP}
    file_format = "orc"
    converted: ClassVar[bool]

    def create_table(self, name: SchemaTableName, data: pa.Table, partitioned_by: Sequence[str]) -> None:
        assert isinstance(self.connector, HiveConnector)
        metastore = self.connector.metastore
        parameters = {"transactional": "true"}
        create_table(
            metastore,
            self.folder,
            name.schema,
            name.table,
            data,
            partitioned_by,
            file_format="orc",
            parameters=parameters,
        )
        write_id = self._next_write_id(name)
        if self.converted:
            return
        for path in sorted((self.folder / name.schema / name.table).rglob("000000_0")):
            _write_delta(path.parent, write_id, orc.read_table(str(path)))
            path.unlink()

    def add_rows(self, name: SchemaTableName, data: pa.Table) -> None:
        _write_delta(self.folder / name.schema / name.table, self._next_write_id(name), data)

    def newest_version(self, name: SchemaTableName) -> TableVersion:
        assert isinstance(self.connector, HiveConnector)
        client = self.connector.metastore.transactions
        [valid] = client.get_valid_write_ids([(name.schema, name.table)], client.get_valid_transactions())
        return TableVersion(VersionKind.VERSION, str(valid.high_watermark))

    def _next_write_id(self, name: SchemaTableName) -> int:
        assert isinstance(self.connector, HiveConnector)
        client = self.connector.metastore.transactions
        transaction = client.open_transaction("writer", "test")
        write_id = client.allocate_write_ids([transaction], name.schema, name.table)[transaction]
        client.commit(transaction)
        return write_id


class TestFullAcidConformance(AcidConformance):
    """Tells changes, too: a row that is written again is deleted and inserted."""

    missing_behaviours = frozenset({Behaviour.EXPRESSION_PUSHDOWN, Behaviour.LIMIT})
    converted = False

    def procedure_arguments(self, procedure: str, name: SchemaTableName) -> Mapping[str, Value | None] | None:
        # What has deltas is no plain table that could be registered.
        return None if procedure == "register_table" else super().procedure_arguments(procedure, name)

    def merge_rows(self, name: SchemaTableName, data: pa.Table, deletes: Sequence[int]) -> None:
        folder = self.folder / name.schema / name.table
        with ReferenceQuery(self.connector) as query:
            rows = query.table(name).project_names(["id", "$row_id"]).read().to_pylist()
        known = {row["id"]: (row["$row_id"]["writeid"], row["$row_id"]["rowid"]) for row in rows}
        gone = {known[key] for key in {*deletes, *data.column("id").to_pylist()} if key in known}
        write_id = self._next_write_id(name)
        if gone:
            _write_deletes(folder, write_id, sorted(gone), data.schema)
        if data.num_rows:
            _write_delta(folder, write_id, data)


@pytest.mark.slow
class TestConvertedConformance(AcidConformance):
    converted = True


def _write_delta(folder: Path, write_id: int, data: pa.Table) -> None:
    rows = data.combine_chunks().to_struct_array().combine_chunks() if data.num_rows else pa.array([], _struct(data))
    count = len(rows)
    columns = {
        "operation": pa.array([0] * count, pa.int32()),
        "originalTransaction": pa.array([write_id] * count, pa.int64()),
        "bucket": pa.array([BUCKET_0] * count, pa.int32()),
        "rowId": pa.array(range(count), pa.int64()),
        "currentTransaction": pa.array([write_id] * count, pa.int64()),
        "row": rows,
    }
    delta = folder / f"delta_{write_id:07d}_{write_id:07d}_0000"
    delta.mkdir()
    orc.write_table(pa.table(columns), str(delta / "bucket_00000"), stripe_size=1, batch_size=5)


def _write_deletes(folder: Path, write_id: int, keys: list[tuple[int, int]], schema: pa.Schema) -> None:
    count = len(keys)
    columns = {
        "operation": pa.array([2] * count, pa.int32()),
        "originalTransaction": pa.array([key[0] for key in keys], pa.int64()),
        "bucket": pa.array([BUCKET_0] * count, pa.int32()),
        "rowId": pa.array([key[1] for key in keys], pa.int64()),
        "currentTransaction": pa.array([write_id] * count, pa.int64()),
        "row": pa.nulls(count, pa.struct(list(schema))),
    }
    delta = folder / f"delete_delta_{write_id:07d}_{write_id:07d}_0000"
    delta.mkdir()
    orc.write_table(pa.table(columns), str(delta / "bucket_00000"))


def _struct(data: pa.Table) -> pa.DataType:
    return pa.struct(list(data.schema))
