from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from connector_spi.connector import SPI_VERSION, ConnectorContext
from connector_spi.errors import (
    InternalError,
    InvalidArgumentError,
    NotSupportedError,
    ResourceError,
    TableNotFoundError,
    UserError,
)
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.names import SchemaTableName
from connector_spi.optional.changes import ChangeRange
from connector_spi.optional.writing import SupportsMerge
from connector_spi.predicate import Domain, Range, TupleDomain, Value, ValueSet
from connector_spi.properties import parse_properties
from connector_spi.testing import ReferenceQuery, assert_same_rows, read_table
from connector_spi.testing.merging import ReferenceMerge
from connectors.memory.connector import MemoryConnector, MemoryFactory
from connectors.memory.written_rows import MEMORY_WRITE_CONFLICT

NAME = SchemaTableName("s", "t")


def make(**properties: str) -> MemoryConnector:
    factory = MemoryFactory()
    given = {key.replace("__", ".").replace("_", "-"): text for key, text in properties.items()}
    typed = parse_properties(factory.config_properties, given, str)
    return factory.create("memory", typed, ConnectorContext(SPI_VERSION, "0"))


@pytest.fixture
def memory() -> Iterator[MemoryConnector]:
    connector = make()
    yield connector
    connector.shutdown()


def at_least(low: int) -> TupleDomain[str]:
    values = ValueSet.of_ranges(pa.int64(), [Range.greater_or_equal(pa.int64(), low)])
    return TupleDomain({"id": Domain.create(values, False)})


def test_chunks_out_of_a_filter_are_not_read(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": pa.array(range(100), pa.int64())}), chunk_rows=10)
    with ReferenceQuery(memory) as query:
        scan = query.table(NAME).filter_by_name(at_least(75))
        splits, summary = scan.splits()
        assert len(splits) == 3
        assert (summary.files_kept, summary.files_total, summary.snapshot) == (3, 10, "snapshot 1")
        assert not scan.remaining.is_all
        assert scan.read_raw().num_rows == 30
        assert scan.read().num_rows == 25


def test_a_chunk_with_nan_is_read_for_what_is_above_all_numbers(memory: MemoryConnector) -> None:
    data = pa.table({"v": [1.0, float("nan"), 2.0, 3.0]})
    memory.create_table(NAME, data, chunk_rows=2)
    above = ValueSet.of_ranges(pa.float64(), [Range.greater_than(pa.float64(), 100.0)])
    met = read_table(memory, NAME, domain=TupleDomain({"v": Domain.create(above, False)}))
    assert_same_rows(met, data.slice(1, 1))


def test_partition_keys_that_are_nan_or_null_keep_their_rows(memory: MemoryConnector) -> None:
    data = pa.table({"k": [float("nan"), None, 0.0, -0.0, float("nan")], "id": [1, 2, 3, 4, 5]})
    memory.create_table(NAME, data, ["k"])
    assert_same_rows(read_table(memory, NAME), data)
    zero = TupleDomain({"k": Domain.single_value(pa.float64(), 0.0)})
    assert read_table(memory, NAME, ["id"], zero).column("id").to_pylist() == [3, 4]


def test_a_limit_is_exact_over_splits(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": pa.array(range(100), pa.int64())}), chunk_rows=10)
    with ReferenceQuery(memory, {"max_split_rows": "4"}) as query:
        scan, guaranteed = query.table(NAME).limit(25)
        assert guaranteed
        assert scan.read_raw().num_rows == 25
        assert [split.row_count for split in scan.splits()[0]] == [4, 4, 2, 4, 4, 2, 4, 1]  # type: ignore[attr-defined]


def test_a_limit_is_not_taken_before_a_filter_that_is_left_nor_a_filter_after_a_limit(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": pa.array(range(100), pa.int64())}), chunk_rows=10)
    with ReferenceQuery(memory) as query:
        filtered = query.table(NAME).filter_by_name(at_least(75))
        assert filtered.limit(5)[0] == filtered
        limited, _ = query.table(NAME).limit(5)
        again = limited.filter_by_name(at_least(75))
        assert again.table == limited.table
        assert again.remaining == limited.by_handle(at_least(75))


def test_a_dynamic_filter_leaves_chunks_out(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": pa.array(range(100), pa.int64())}), chunk_rows=10)
    with ReferenceQuery(memory) as query:
        scan = query.table(NAME)
        assert len(scan.splits(scan.by_handle(at_least(75)))[0]) == 3


def test_a_query_reads_a_table_that_was_dropped_and_made_anew(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": [1]}))
    with ReferenceQuery(memory) as query:
        scan = query.table(NAME)
        memory.drop_table(NAME)
        memory.create_table(NAME, pa.table({"id": ["other"]}))
        assert scan.read().column("id").to_pylist() == [1]
        assert query.table(NAME).read().column("id").to_pylist() == [1]
    assert read_table(memory, NAME).column("id").to_pylist() == ["other"]


def test_handles_end_with_their_transaction(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": [1]}))
    with ReferenceQuery(memory) as query:
        scan = query.table(NAME)
        with ReferenceQuery(memory) as other, pytest.raises(InternalError, match="was not made in this transaction"):
            other.metadata.get_table_metadata(other.session, scan.table)
    with pytest.raises(InternalError, match="the transaction is committed"):
        scan.splits()


def test_transactions_are_counted(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": [1]}))
    read_table(memory, NAME)
    with pytest.raises(TableNotFoundError):
        read_table(memory, SchemaTableName("s", "nothing"))
    query = ReferenceQuery(memory)
    counts = memory.transactions
    assert (counts.begun, counts.committed, counts.rolled_back, counts.open) == (3, 1, 1, 1)
    query.transaction.rollback()
    assert counts.open == 0


def test_a_time_means_the_newest_state_not_after_it(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": [1]}))
    memory.insert(NAME, pa.table({"id": [2]}))
    first, second = (snapshot.committed_at for snapshot in memory._store.snapshots(NAME))
    for moment, expected in ((first, [1]), (second, [1, 2])):
        met = read_table(memory, NAME, version=TableVersion(VersionKind.TIMESTAMP, moment))
        assert met.column("id").to_pylist() == expected
    before = first.replace(year=2000)
    with pytest.raises(InvalidArgumentError, match="it has no state of 2000"):
        read_table(memory, NAME, version=TableVersion(VersionKind.TIMESTAMP, before))


def test_rollback_procedure(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": [1]}))
    assert memory.insert(NAME, pa.table({"id": [2]})) == 2
    (procedure,) = memory.procedures
    session = ReferenceQuery(memory).session
    arguments: dict[str, Value | None] = {"schema_name": "S", "table_name": "t", "version": 1}
    made = procedure.function(session, arguments)
    assert made.schema == procedure.result
    assert made.column("version").to_pylist() == [3]
    assert read_table(memory, NAME).column("id").to_pylist() == [1]
    with pytest.raises(InvalidArgumentError, match="has no version 9; it has 1 to 3"):
        procedure.function(session, {**arguments, "version": 9})
    with pytest.raises(TableNotFoundError):
        procedure.function(session, {**arguments, "table_name": "nothing"})


def test_inserted_rows_have_the_tables_columns(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": [1], "name": ["a"]}))
    memory.insert(NAME, pa.table({"name": ["b"], "id": [2]}))
    assert_same_rows(read_table(memory, NAME), pa.table({"id": [1, 2], "name": ["a", "b"]}))
    with pytest.raises(InvalidArgumentError, match="has the columns"):
        memory.insert(NAME, pa.table({"id": [1.5], "name": ["a"]}))


@pytest.mark.parametrize(
    ("name", "columns", "partitioned_by", "message"),
    [
        (SchemaTableName("s", "T"), ["id"], [], "expected a name in lower case, met 'T'"),
        (SchemaTableName("S", "t"), ["id"], [], "expected a name in lower case, met 'S'"),
        (NAME, ["id", "id"], [], "two columns are called 'id'"),
        (NAME, ["$chunk"], [], "two columns are called '\\$chunk'"),
        (NAME, ["id"], ["day"], "partition key 'day' is not one of the columns"),
    ],
)
def test_tables_that_cannot_be_made(
    memory: MemoryConnector, name: SchemaTableName, columns: list[str], partitioned_by: list[str], message: str
) -> None:
    data = pa.Table.from_arrays([pa.array([1])] * len(columns), names=columns)
    with pytest.raises(InvalidArgumentError, match=message):
        memory.create_table(name, data, partitioned_by)


def test_a_table_is_made_once(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": pa.array([], pa.int64())}))
    with pytest.raises(InvalidArgumentError, match=r"table s\.t is there already; drop it first"):
        memory.create_table(NAME, pa.table({"id": [1]}))


def test_the_size_of_all_tables_is_bounded() -> None:
    memory = make(memory__max_data_size="1kB")
    memory.create_table(NAME, pa.table({"id": pa.array(range(100), pa.int64())}))
    with pytest.raises(ResourceError, match=r"more than the 1024 of memory\.max-data-size"):
        memory.insert(NAME, pa.table({"id": pa.array(range(100), pa.int64())}))
    assert read_table(memory, NAME).num_rows == 100


def test_what_no_snapshot_holds_any_more_takes_no_room() -> None:
    memory = make(memory__max_data_size="2kB")
    rows = pa.table({"id": pa.array(range(100), pa.int64())})
    for _ in range(3):
        memory.create_table(NAME, rows)
        memory.insert(NAME, rows)
        # The newest snapshot has the rows of the older one, too.
        memory.expire(NAME, 1)
        with pytest.raises(ResourceError, match="would hold 2400 bytes"):
            memory.insert(NAME, rows)
        memory.merge(NAME, "id", rows.slice(0, 0), range(100))
        memory.expire(NAME, 1)
        memory.insert(NAME, rows)
        memory.insert(NAME, rows)
        assert read_table(memory, NAME).num_rows == 200
        memory.drop_table(NAME)


def test_comments_come_from_the_fields(memory: MemoryConnector) -> None:
    field = pa.field("id", pa.int64(), nullable=False, metadata={"comment": "Number of the order"})
    memory.create_table(NAME, pa.table({"id": [1]}, schema=pa.schema([field])), comment="Orders")
    with ReferenceQuery(memory) as query:
        table = query.metadata.get_table_metadata(query.session, query.table(NAME).table)
    assert (table.comment, table.columns[0].comment, table.columns[0].nullable) == (
        "Orders",
        "Number of the order",
        False,
    )


VERSION_1, VERSION_2 = TableVersion(VersionKind.VERSION, "1"), TableVersion(VersionKind.VERSION, "2")


def rows_of(changes: pa.Table) -> list[tuple[object, ...]]:
    columns = [changes.column(name).to_pylist() for name in ("_commit_version", "_change_type", "id", "v")]
    return sorted(zip(*columns, strict=True), key=repr)


def test_merge_keeps_the_number_of_a_row_that_it_updates(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": [1, 2, 3], "v": ["a", "b", "c"], "k": ["x", "y", "x"]}), ["k"])
    assert memory.merge(NAME, "id", pa.table({"id": [4, 1], "v": ["d", "A"], "k": ["y", "y"]}), [2, 9]) == 2
    with ReferenceQuery(memory) as query:
        assert_same_rows(
            query.table(NAME).read(), pa.table({"id": [3, 4, 1], "v": ["c", "d", "A"], "k": ["x", "y", "y"]})
        )
        scan = query.changes(NAME, ChangeRange())
        found = scan.project_names(["_commit_version", "_change_type", "id", "v", "$row_id"]).read()
    assert rows_of(found) == [
        (1, "insert", 1, "a"),
        (1, "insert", 2, "b"),
        (1, "insert", 3, "c"),
        (2, "delete", 2, "b"),
        (2, "insert", 4, "d"),
        (2, "update_postimage", 1, "A"),
        (2, "update_preimage", 1, "a"),
    ]
    numbers = {(row["id"], row["$row_id"]) for row in found.to_pylist()}
    assert len(numbers) == len({number for _, number in numbers}) == 4


def test_merge_refuses_a_key_that_does_not_tell_rows_apart(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": [1, 1, 2]}))
    with pytest.raises(InvalidArgumentError, match="in the table twice"):
        memory.merge(NAME, "id", pa.table({"id": [1]}))
    with pytest.raises(InvalidArgumentError, match="is given twice"):
        memory.merge(NAME, "id", pa.table({"id": [2]}), [2])
    with pytest.raises(InvalidArgumentError, match="no column 'nr'"):
        memory.merge(NAME, "nr", pa.table({"id": [2]}))


def test_of_two_that_change_rows_the_one_that_commits_second_fails(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": pa.array([1, 2], pa.int64())}))
    first, second = ReferenceQuery(memory), ReferenceQuery(memory)
    for query in (first, second):
        found = query.table(NAME).project_names(["id", "$row_id"]).read()
        merge = ReferenceMerge(query, NAME)
        merge.finish([merge.write(found.slice(0, 1), pa.table({"id": pa.array([10], pa.int64())}))])
    first.transaction.commit()
    with pytest.raises(UserError, match="read at version 1, and another writer has made version 2") as caught:
        second.transaction.commit()
    assert caught.value.code == MEMORY_WRITE_CONFLICT
    assert read_table(memory, NAME).column("id").to_pylist() == [2, 10]


def test_changes_are_not_changed(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": pa.array([1, 2], pa.int64())}))
    with ReferenceQuery(memory) as query:
        handle = query.changes(NAME, ChangeRange()).table
        assert isinstance(query.metadata, SupportsMerge)
        with pytest.raises(NotSupportedError, match="these are its changes"):
            query.metadata.get_merge_row_id_columns(query.session, handle)


def test_a_rollback_undoes_row_by_row(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": [1, 2], "v": ["a", "b"]}))
    memory.merge(NAME, "id", pa.table({"id": [1, 3], "v": ["A", "c"]}), [2])
    (procedure,) = memory.procedures
    session = ReferenceQuery(memory).session
    procedure.function(session, {"schema_name": "s", "table_name": "t", "version": 1})
    with ReferenceQuery(memory) as query:
        found = query.changes(NAME, ChangeRange(VERSION_2, start_inclusive=False)).read()
    assert rows_of(found) == [
        (3, "delete", 3, "c"),
        (3, "insert", 2, "b"),
        (3, "update_postimage", 1, "a"),
        (3, "update_preimage", 1, "A"),
    ]


def test_changes_of_snapshots_that_were_forgotten(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": [1], "v": ["a"]}))
    for number in range(2, 5):
        memory.insert(NAME, pa.table({"id": [number], "v": ["a"]}))
    moments = [snapshot.committed_at for snapshot in memory._store.snapshots(NAME)]
    memory.expire(NAME, 2)
    gone = "no longer there: the oldest state kept is version 3; ask for versions 4 to 4, committed after 20"
    with ReferenceQuery(memory) as query:
        for change_range in (
            ChangeRange(),
            ChangeRange(VERSION_1, VERSION_2),
            ChangeRange(VERSION_2, start_inclusive=False),
            ChangeRange(
                TableVersion(VersionKind.TIMESTAMP, moments[0]), TableVersion(VersionKind.TIMESTAMP, moments[1])
            ),
        ):
            with pytest.raises(InvalidArgumentError, match=gone):
                query.changes(NAME, change_range)
        three = TableVersion(VersionKind.VERSION, "3")
        assert rows_of(query.changes(NAME, ChangeRange(three, start_inclusive=False)).read()) == [(4, "insert", 4, "a")]
    memory.expire(NAME, 1)
    with ReferenceQuery(memory) as query, pytest.raises(InvalidArgumentError, match="no changes are left"):
        query.changes(NAME, ChangeRange())


def test_changes_of_a_table_with_a_column_of_that_name_are_refused(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": [1], "_Change_Type": ["mine"]}))
    with ReferenceQuery(memory) as query, pytest.raises(NotSupportedError, match="a column _change_type of its own"):
        query.changes(NAME, ChangeRange())


def test_filters_on_what_changes_are_told_by_leave_chunks_out(memory: MemoryConnector) -> None:
    memory.create_table(NAME, pa.table({"id": [1], "v": ["a"]}))
    memory.merge(NAME, "id", pa.table({"id": [1, 2], "v": ["b", "b"]}))
    wanted = TupleDomain(
        {
            "_commit_version": Domain.single_value(pa.int64(), 2),
            "_change_type": Domain.single_value(pa.string(), "insert"),
        }
    )
    with ReferenceQuery(memory) as query:
        scan = query.changes(NAME, ChangeRange()).filter_by_name(wanted)
        assert scan.read_raw().num_rows == 1
        summary = scan.splits()[1]
        assert (summary.files_kept, summary.files_total) == (1, 4)
        assert summary.snapshot == "changes FROM the beginning"
