"""Merge-on-read tables that real Hudi wrote, against the answers of real Hudi.

Where versions of Hudi disagree, the newest is followed:

| case | choice | reason |
|---|---|---|
| ``v6_ordering_default_mor``, ``v6_payload_nondefaults_mor`` | rows of a log replace each other in the order of writing | 0.15, which judged them, let the greater ordering value win among log rows even where the payload class overwrites; 1.x does not |
| ``v6_payload_mysql_mor`` | binlog files compare by number | 0.15 compares ``9.1`` and ``10.1`` as texts |
| ``v6_payload_default_marker_mor`` | the row stays | the delete marker was an option of the writer and is in no property of the table; 0.15 deleted the row when it compacted, as it was told the option again |
"""  # noqa: E501

from __future__ import annotations

import zipfile
from json import loads
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.predicate import TupleDomain
from tests.connectors.hudi.catalog_helper import make_catalog
from tests.connectors.hudi.corpus import CASES, HUDI, expected, opened, refused
from tests.paths import CORPUS, TABLES
from tests.rows import assert_same_table

MOR = [case for case in CASES if case.endswith("_mor")]
SHARED = sorted(path.stem for path in (TABLES / "hudi").glob("mor_*.zip"))
# The same story, written and judged by a newer Hudi.
NEWER = {
    "v6_ordering_default_mor": "v9_committime_mor",
    "v6_payload_nondefaults_mor": "v8h11_payload_nondefaults_mor",
    "v6_payload_mysql_mor": "v8h11_payload_mysql_mor",
    "v6_payload_default_marker_mor": "v8h11_payload_default_marker_mor",
}

pytestmark = pytest.mark.skipif(not MOR, reason=f"no tables in {CORPUS}")


def user_columns(table: pa.Table) -> pa.Table:
    """Without the times and files of writes."""
    return table.select([name for name in table.column_names if not name.startswith("_hoodie_")])


def steps(case: str) -> list[list[list[int]]]:
    """Rows of the writes of a case that only upserts, in order."""
    return [step["rows"] for step in loads((HUDI / f"{case}.json").read_text())["steps"]]


@pytest.mark.parametrize("case", [case for case in MOR if case not in NEWER])
def test_snapshot_is_what_hudi_returns(case: str, tmp_path: Path) -> None:
    if refused(case, "snapshot"):
        pytest.skip("Hudi itself cannot read it")
    assert_same_table(opened(case, tmp_path).read(), expected(case, "snapshot"))


@pytest.mark.parametrize("case", SHARED)
def test_snapshot_is_what_another_reader_returns(case: str, tmp_path: Path) -> None:
    """hudi-rs, where it reads right."""
    with zipfile.ZipFile(TABLES / "hudi" / f"{case}.zip") as packed:
        packed.extractall(tmp_path)
    catalog = make_catalog(tmp_path)
    [table] = [path.parent for path in tmp_path.glob("*/.hoodie")]
    catalog.register(table)
    answer = TABLES / "hudi" / "expected" / f"{case}.snapshot.parquet"
    if answer.exists():
        assert_same_table(catalog.read(), pq.read_table(answer))
    else:
        assert catalog.read().num_rows == 0


@pytest.mark.parametrize("case", list(NEWER))
def test_old_tables_are_read_as_the_newest_hudi_does(case: str, tmp_path: Path) -> None:
    met = opened(case, tmp_path).read()
    assert_same_table(user_columns(met), user_columns(expected(NEWER[case], "snapshot")))


@pytest.mark.parametrize("case", [case for case in MOR if "_hfilelog_" in case])
def test_logs_of_hfile_blocks(case: str, tmp_path: Path) -> None:
    """No Hudi reads them back: the answer is what was written last of each key."""
    met = opened(case, tmp_path).read()
    written = {row[0]: tuple(row) for rows in steps(case) for row in rows}
    rows = zip(*(column.to_pylist() for column in user_columns(met).columns), strict=True)
    assert sorted(rows, key=lambda row: int(str(row[0]))) == [written[key] for key in sorted(written)]


@pytest.mark.parametrize("case", [case for case in ("v6_alltypes_mor", "v9_alltypes_mor") if case in MOR])
def test_fields_of_nested_columns(case: str, tmp_path: Path) -> None:
    """What a query asks of a struct is read of base files and logs alone."""
    catalog, answer = opened(case, tmp_path), expected(case, "snapshot")
    structs = [field for field in answer.schema if pa.types.is_struct(field.type)]
    assert structs
    with catalog.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert table is not None
        for field in structs:
            inner = pa.struct([field.type.field(0)])
            asked = (ColumnHandle("id", pa.int32()), ColumnHandle(field.name, inner))
            rows: list[tuple[object, object]] = []
            for split in catalog.splits(transaction, table, asked):
                provider = catalog.connector.page_source_provider
                with provider.create_page_source(catalog.session, split, table, asked, TupleDomain.all()) as source:
                    for batch in source:
                        assert batch.schema.field(1).type == inner
                        rows += zip(*(column.to_pylist() for column in batch.columns), strict=True)
            first = field.type.field(0).name
            wanted = [
                (key, None if value is None else {first: value[first]})
                for key, value in zip(answer["id"].to_pylist(), answer[field.name].to_pylist(), strict=True)
            ]
            assert sorted(rows, key=str) == sorted(wanted, key=str)
