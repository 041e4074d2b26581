"""Changes of tables that real Hive wrote: folded up they are the rows that Hive returned."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
import pytest

from connector_spi.errors import ConnectorError, InvalidArgumentError, NotSupportedError
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.names import SchemaTableName
from connector_spi.optional.changes import ChangeRange
from connector_spi.testing import ReferenceQuery
from connectors.hive import error_codes
from connectors.hive.connector import HiveConnector
from connectors.hive.handles import HiveTableHandle
from tests.connectors.hive.reading import make_connector
from tests.hive_corpus import (
    FULL_ACID_CASES,
    INSERT_ONLY_CASES,
    canonical_rows,
    expected_answer,
    expected_row_ids,
    register_cases,
    require_corpus,
)

Rows = Counter[tuple[object, ...]]

TAKEN_OVER = {
    "acid_major_clean": 6,
    "acid_major_writes": 6,
    # Not every write id is one of each partition, and one of them was compacted.
    "acid_part_compacted": 3,
    "converted_unbucketed_major": 10000004,
    "converted_unbucketed_major_clean": 10000004,
    "mm_major": 4,
    "mm_major_clean": 4,
    # Whether an insert-only table was converted is not known where a base may have hidden the files of before.
    "mm_orc_overwrite": 3,
    "mm_parquet": 2,
    "mm_truncate": 2,
}
"""Cases whose first changes compaction took over, and the version after which they are all there."""


@pytest.fixture(scope="module")
def connector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveConnector]:
    require_corpus()
    connector = make_connector(tmp_path_factory.mktemp("metastore"))
    cases = (*FULL_ACID_CASES, *INSERT_ONLY_CASES)
    register_cases(connector.metastore.writes, "corpus", cases, connector.metastore.transactions)
    yield connector
    connector.shutdown()


def name_of(case: str) -> SchemaTableName:
    return SchemaTableName("corpus", case)


def version(number: int) -> TableVersion:
    return TableVersion(VersionKind.VERSION, str(number))


def after(number: int, last: int | None = None) -> ChangeRange:
    return ChangeRange(version(number), None if last is None else version(last), start_inclusive=False)


def changes(connector: HiveConnector, case: str, asked: ChangeRange, columns: list[str] | None = None) -> pa.Table:
    with ReferenceQuery(connector) as query:
        return query.changes(name_of(case), asked).project_names(columns).read()


def state(connector: HiveConnector, case: str, number: int | None, columns: list[str] | None = None) -> Rows:
    with ReferenceQuery(connector) as query:
        scan = query.table(name_of(case), None if number is None else version(number))
        return canonical(scan.project_names(columns).read())


def canonical(table: pa.Table) -> Rows:
    return canonical_rows(table)


def folded(table: pa.Table, before: Rows) -> Rows:
    """A state with the changes done to it; each delete must meet its row."""
    kinds = table.column("_change_type").to_pylist()
    told = [name for name in table.column_names if name.startswith("_")]
    data = table.drop_columns(told)
    assert set(kinds) <= {"insert", "delete"}
    came, went = (
        canonical(data.filter(pa.array([kind == one for kind in kinds], pa.bool_()))) for one in ("insert", "delete")
    )
    found = before + came
    assert not went - found
    return found - went


def hive_rows(case: str) -> Rows:
    """Hive's answer; it shows a NULL key of a text type by its folder's name, cut to the type's length."""
    shown = ("__HIVE_DEFAULT_PARTITION__", "__HIVE_DEFAULT_PARTITION__"[:10])
    rows: Rows = Counter()
    for row, count in expected_answer(case).rows.items():
        rows[tuple(None if value in shown else value for value in row)] += count
    return rows


@pytest.mark.parametrize("case", sorted({*FULL_ACID_CASES, *INSERT_ONLY_CASES} - TAKEN_OVER.keys()))
def test_all_changes_make_hives_rows_of_nothing(connector: HiveConnector, case: str) -> None:
    assert folded(changes(connector, case, ChangeRange()), Counter()) == hive_rows(case)


@pytest.mark.parametrize("case", sorted(set(FULL_ACID_CASES) - TAKEN_OVER.keys()))
def test_all_changes_make_hives_row_ids_of_nothing(connector: HiveConnector, case: str) -> None:
    found = folded(changes(connector, case, ChangeRange(), ["_change_type", "$row_id"]), Counter())
    assert found == Counter((row[:3],) for row in expected_row_ids(case).elements())


@pytest.mark.parametrize("case", sorted(TAKEN_OVER))
def test_what_was_taken_over_is_refused_and_what_is_left_is_told(connector: HiveConnector, case: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"no longer exist: .* can be read: .*after version") as met:
        changes(connector, case, ChangeRange())
    assert met.value.code == error_codes.HIVE_ACID_HISTORY
    left = int(re.findall(r"after version (\d+)", met.value.message)[-1])
    assert left == TAKEN_OVER[case]
    assert folded(changes(connector, case, after(left)), state(connector, case, left)) == hive_rows(case)


@pytest.mark.parametrize("case", [*FULL_ACID_CASES, *INSERT_ONLY_CASES])
def test_the_changes_of_each_version_make_the_next_state(connector: HiveConnector, case: str) -> None:
    """From version to version, met with what VERSION AS OF reads wherever that is left."""
    columns = ["$row_id"] if case in FULL_ACID_CASES else None
    asked = columns and ["_change_type", *columns]
    first, last = write_ids(connector, case)
    if case in TAKEN_OVER:
        first = TAKEN_OVER[case]
        rows = state(connector, case, first, columns)
    else:
        rows = folded(changes(connector, case, ChangeRange(None, version(first)), asked), Counter())
    for number in range(first, last):
        rows = folded(changes(connector, case, after(number, number + 1), asked), rows)
        read = state_if_left(connector, case, number + 1, columns)
        assert read is None or rows == read
    assert rows == state(connector, case, None, columns)


def state_if_left(connector: HiveConnector, case: str, number: int, columns: list[str] | None) -> Rows | None:
    try:
        return state(connector, case, number, columns)
    except ConnectorError as error:
        if error.code != error_codes.HIVE_ACID_HISTORY:
            raise
        return None


def write_ids(connector: HiveConnector, case: str) -> tuple[int, int]:
    """Write ids from the one before the first to the last; those of converted tables begin at ten millions."""
    with ReferenceQuery(connector) as query:
        handle = query.metadata.get_table_handle(query.session, name_of(case))
    assert isinstance(handle, HiveTableHandle)
    assert handle.snapshot is not None
    last = handle.snapshot.write_ids.high_watermark
    return (10_000_000 if last >= 10_000_000 else 0), last


def test_ids_that_are_open_or_aborted_never_appear(connector: HiveConnector) -> None:
    # Write id 2 of this table is of an aborted transaction, 3 of an open one.
    found = changes(connector, "acid_multistmt_open", ChangeRange()).column("_commit_version").to_pylist()
    assert set(found) == {1, 4}
    assert changes(connector, "acid_multistmt_open", ChangeRange(version(2), version(3))).num_rows == 0
    with ReferenceQuery(connector) as query:
        summary = query.changes(name_of("acid_multistmt_open"), ChangeRange()).splits()[1]
    assert summary.snapshot == "changes from the beginning to 4, without those of open write ids 3"


def test_an_update_is_a_delete_and_an_insert_of_one_write_id(connector: HiveConnector) -> None:
    found = changes(connector, "acid_flat", after(2, 3), ["_commit_version", "_change_type", "$row_id"]).to_pylist()
    assert {row["_commit_version"] for row in found} == {3}
    kinds = Counter(row["_change_type"] for row in found)
    assert kinds["insert"] == kinds["delete"] > 0
    assert all((row["$row_id"]["writeid"] == 3) == (row["_change_type"] == "insert") for row in found)


def test_what_cannot_be_asked(connector: HiveConnector) -> None:
    for asked, error, words in (
        (ChangeRange(version(7)), InvalidArgumentError, "has no version '7': expected a write id from 0 to 6"),
        (ChangeRange(version(5), version(4)), InvalidArgumentError, "the end is before the start"),
        (ChangeRange(TableVersion(VersionKind.VERSION, "x")), InvalidArgumentError, "has no version 'x'"),
    ):
        with pytest.raises(error, match=words):
            changes(connector, "acid_major", asked)


def test_times_are_refused(connector: HiveConnector) -> None:
    moment = TableVersion(VersionKind.TIMESTAMP, dt.datetime(2024, 1, 1, tzinfo=dt.UTC))
    with pytest.raises(NotSupportedError, match="not record when a write id was committed; use CHANGES FROM"):
        changes(connector, "acid_major", ChangeRange(moment))
