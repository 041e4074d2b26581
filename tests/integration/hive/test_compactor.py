"""Our compactions under real Hive: it reads the same rows, changes them, compacts and cleans on top, and so do we."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from connector_spi.errors import MetastoreError
from connector_spi.names import SchemaTableName
from connector_spi.optional.writing import MergeCommand
from connector_spi.testing.merging import ReferenceMerge
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import insert_rows
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.compaction.compacting import call
from tests.integration.hive.engine import HiveEngine
from tests.integration.test_transactions import make_hive

Model = dict[int, str | None]


@pytest.fixture(scope="module")
def hive(hive_engine: HiveEngine) -> Iterator[HiveConnector]:
    connector = make_hive(hive_engine.uri)
    yield connector
    connector.shutdown()


@pytest.fixture(scope="module")
def schema(hive_engine: HiveEngine) -> str:
    name = f"c{uuid4().hex[:8]}"
    hive_engine.sql(f"CREATE DATABASE {name}")
    return name


class Case:
    """One table in both engines, and what should be in it."""

    def __init__(self, engine: HiveEngine, hive: HiveConnector, name: SchemaTableName, partition: str | None) -> None:
        self.engine = engine
        self.hive = hive
        self.name = name
        self.partition = partition
        self.model: Model = {}

    def check(self) -> None:
        """Hive and we see the model."""
        found = self.engine.sql(f"SELECT id, v FROM {self.name} ORDER BY id")
        assert [(int(number or -1), value) for number, value in found] == sorted(self.model.items())
        with ReferenceQuery(self.hive) as query:
            ours = query.table(self.name).project_names(["id", "v"]).read().sort_by("id").to_pylist()
        assert [(row["id"], row["v"]) for row in ours] == sorted(self.model.items())

    def hive_inserts(self, *numbers: int) -> None:
        values = ", ".join(f"({n}, 'h{n}'{', ' + repr('x') if self.partition else ''})" for n in numbers)
        self.engine.sql(f"INSERT INTO {self.name} VALUES {values}")
        self.model |= {number: f"h{number}" for number in numbers}

    def hive_updates(self, *numbers: int) -> None:
        self.engine.sql(f"UPDATE {self.name} SET v = concat(v, '+') WHERE id IN ({', '.join(map(str, numbers))})")
        self.model |= {number: f"{self.model[number]}+" for number in numbers}

    def hive_deletes(self, *numbers: int) -> None:
        self.engine.sql(f"DELETE FROM {self.name} WHERE id IN ({', '.join(map(str, numbers))})")
        for number in numbers:
            del self.model[number]

    def inserts(self, *numbers: int) -> None:
        insert_rows(self.hive, self.name, [self._rows(numbers)])
        self.model |= {number: f"o{number}" for number in numbers}

    def replaces(self, *numbers: int) -> None:
        with ReferenceQuery(self.hive) as query:
            names = ["id", "$row_id", "$partition"]
            met = query.table(self.name).project_names(names).read()
            met = met.filter(pc.is_in(met.column("id"), pa.array(numbers, pa.int64())))
            merge = ReferenceMerge(query, self.name, MergeCommand.UPDATE)
            merge.finish([merge.write(met, self._rows(numbers))])
        self.model |= {number: f"o{number}" for number in numbers}

    def compacts(self, kind: str) -> dict[str, object]:
        given = {} if self.partition is None else {"partition": self.partition}
        [row] = call(
            self.hive, "run_compaction", schema_name=self.name.schema, table_name=self.name.table, type=kind, **given
        )
        assert row["state"] == "ready for cleaning", row
        return row

    def cleans(self) -> list[object]:
        """The states, with the reasons of those that are not done."""
        rows = call(self.hive, "run_clean", schema_name=self.name.schema, table_name=self.name.table)
        return [row["reason"] or row["state"] for row in rows]

    def hive_compacts(self, kind: str) -> None:
        if self.partition is None:
            self.engine.compact(str(self.name), kind)
        else:
            self.engine.sql(f"ALTER TABLE {self.name} PARTITION (ds = 'x') COMPACT '{kind}'")
            self.engine.work()
            self.engine.clean()

    def states(self) -> list[str]:
        shown = self.hive.metastore.transactions.show_compactions(self.name.schema, self.name.table)
        return [one.state for one in shown]

    def directory(self) -> Path:
        return self.engine.warehouse / f"{self.name.schema}.db" / self.name.table / (self.partition or "")

    def _rows(self, numbers: tuple[int, ...]) -> pa.Table:
        columns: dict[str, pa.Array] = {"id": pa.array(numbers, pa.int64()), "v": [f"o{n}" for n in numbers]}
        return pa.table(columns | ({"ds": ["x"] * len(numbers)} if self.partition else {}))


def create(engine: HiveEngine, hive: HiveConnector, name: SchemaTableName, kind: str) -> Case:
    parted = "PARTITIONED BY (ds string)" if kind == "parted" else ""
    buckets = "CLUSTERED BY (id) INTO 2 BUCKETS" if kind == "bucketed" else ""
    engine.sql(
        f"CREATE TABLE {name} (id bigint, v string) {parted} {buckets} STORED AS ORC "
        "TBLPROPERTIES ('transactional'='true')"
    )
    return Case(engine, hive, name, "ds=x" if parted else None)


@pytest.mark.parametrize("kind", ["plain", "bucketed", "parted"])
def test_all_go_on_where_the_other_has_compacted(
    hive_engine: HiveEngine, hive: HiveConnector, schema: str, kind: str
) -> None:
    case = create(hive_engine, hive, SchemaTableName(schema, f"t_{kind}"), kind)
    case.hive_inserts(1, 2, 3, 4)
    case.inserts(5, 6, 7, 8)
    case.hive_updates(1, 5)
    case.hive_deletes(2, 6)
    case.compacts("minor")
    case.check()
    case.hive_updates(3, 7)
    case.replaces(4, 8)
    case.check()
    assert case.cleans() == ["succeeded"]
    case.check()
    case.compacts("minor")
    case.check()
    with pytest.raises(MetastoreError, match="is ready for cleaning already"):
        case.compacts("major")
    hive_engine.clean()
    assert set(case.states()) == {"succeeded"}, "Hive's cleaner takes what we leave to it"
    case.check()
    case.compacts("major")
    case.check()
    hive_engine.clean()
    assert set(case.states()) == {"succeeded"}
    assert [path.name[:5] for path in case.directory().iterdir() if path.is_dir()] == ["base_"]
    case.check()
    _go_on(case)


def _go_on(case: Case) -> None:
    """One after the other on what both have compacted."""
    case.hive_deletes(1)
    case.hive_inserts(11, 12)
    case.hive_compacts("minor")
    case.check()
    case.replaces(3, 11)
    case.compacts("minor")
    case.check()
    assert case.cleans() == ["succeeded"]
    case.hive_compacts("major")
    case.check()
    case.hive_updates(12)
    case.compacts("major")
    assert case.cleans() == ["succeeded"]
    case.check()
    ids = case.engine.sql(f"SELECT count(DISTINCT row__id) FROM {case.name}")
    assert ids == [(str(len(case.model)),)]


def test_what_hive_was_asked_for(hive_engine: HiveEngine, hive: HiveConnector, schema: str) -> None:
    case = create(hive_engine, hive, SchemaTableName(schema, "asked"), "plain")
    case.hive_inserts(1, 2)
    case.hive_updates(1)
    hive_engine.sql(f"ALTER TABLE {case.name} COMPACT 'major'")
    [made] = call(hive, "run_compaction")
    assert (made["table_name"], made["type"], made["state"]) == ("asked", "major", "ready for cleaning")
    case.check()
    hive_engine.clean()
    assert case.states() == ["succeeded"]
    case.check()


def test_rows_of_aborted_transactions_never_come_back(
    hive_engine: HiveEngine, hive: HiveConnector, schema: str
) -> None:
    """Cleaning lets the metastore forget that they were aborted."""
    case = create(hive_engine, hive, SchemaTableName(schema, "aborted"), "plain")
    case.hive_inserts(1)
    case.hive_inserts(2)
    client = hive.metastore.transactions
    transaction = client.open_transaction("ann", "killed")
    write_id = client.allocate_write_ids([transaction], *str(case.name).split("."))[transaction]
    [first, _] = sorted(path for path in case.directory().iterdir() if path.name.startswith("delta"))
    shutil.copytree(first, case.directory() / f"delta_{write_id:07d}_{write_id:07d}_0000")
    client.abort(transaction)
    case.check()
    case.compacts("major")
    case.check()
    assert case.cleans() == ["succeeded"]
    assert not (case.directory() / f"delta_{write_id:07d}_{write_id:07d}_0000").exists()
    case.hive_inserts(3)
    case.check()


def test_files_older_than_transactions(hive_engine: HiveEngine, hive: HiveConnector, schema: str) -> None:
    name = SchemaTableName(schema, "old")
    hive_engine.sql(f"CREATE TABLE {name} (id bigint, v string) STORED AS ORC TBLPROPERTIES ('transactional'='false')")
    case = Case(hive_engine, hive, name, None)
    case.hive_inserts(1, 2, 3)
    case.hive_inserts(4)
    hive_engine.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('transactional'='true')")
    ids = hive_engine.sql(f"SELECT id, row__id FROM {name} ORDER BY id")
    case.compacts("major")
    assert hive_engine.sql(f"SELECT id, row__id FROM {name} ORDER BY id") == ids
    case.check()
    case.hive_updates(2)
    case.hive_deletes(1)
    assert case.cleans() == ["succeeded"]
    case.compacts("minor")
    case.check()
    assert case.cleans() == ["succeeded"]
    case.compacts("major")
    assert case.cleans() == ["succeeded"]
    case.check()
    assert not list(case.directory().glob("0*"))


@pytest.mark.parametrize("file_format", ["ORC", "PARQUET", "TEXTFILE"])
def test_insert_only_tables(hive_engine: HiveEngine, hive: HiveConnector, schema: str, file_format: str) -> None:
    name = SchemaTableName(schema, f"mm_{file_format.lower()}")
    hive_engine.sql(
        f"CREATE TABLE {name} (id bigint, v string) STORED AS {file_format} "
        "TBLPROPERTIES ('transactional'='true','transactional_properties'='insert_only')"
    )
    case = Case(hive_engine, hive, name, None)
    case.hive_inserts(1, 2)
    case.inserts(3)
    case.compacts("minor")
    case.check()
    assert case.cleans() == ["succeeded"]
    case.hive_inserts(4)
    case.compacts("major")
    case.check()
    hive_engine.clean()
    assert set(case.states()) == {"succeeded"}
    case.check()
    case.hive_inserts(5)
    case.check()
