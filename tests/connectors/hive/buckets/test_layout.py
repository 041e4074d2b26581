"""Bucketed tables: files chosen by filters, ``$bucket``, and rows that are checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.metastore.factory import Metastore
from catalog.metastore.model import Database, FieldSchema, Parameters, Partition, Table
from catalog.metastore.types import hive_type_text
from connector_spi.errors import CorruptFileError
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.optional.aggregation import AggregateFunction, AggregateKind, Aggregation
from connector_spi.predicate import Domain, Range, TupleDomain, Value, ValueSet
from connector_spi.scan_counters import ScanCounts, counting
from connector_spi.session import ConnectorSession
from connectors.hive.buckets.layout import Bucketing, file_buckets, wanted_buckets
from connectors.hive.connector import HiveConnector
from connectors.hive.handles import HiveTableHandle
from connectors.toolkit.read.aggregation import aggregated_columns
from tests.connectors.hive.reading import make_connector, make_session, open_metadata, scan_table
from tests.connectors.hive.table_writer import storage, write_file
from tests.hive_corpus import canonical_rows, expected_answer, register_cases, require_corpus
from tests.sampling import examples

_CASES = ("acid_bucketed", "converted_bucketed", "ext_bucketed_v2")
_DATA = pa.table({"id": pa.array(range(40), pa.int32()), "s": [f"k{number % 7}" for number in range(40)]})


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveConnector]:
    require_corpus()
    connector = make_connector(tmp_path_factory.mktemp("metastore"))
    register_cases(connector.metastore.writes, "corpus", _CASES, connector.metastore.transactions)
    yield connector
    connector.shutdown()


@pytest.mark.parametrize("case", _CASES)
def test_every_row_that_hive_wrote_is_found_in_its_bucket(corpus: HiveConnector, case: str) -> None:
    session = make_session(corpus, validate_bucketing=True)
    rows = scan_table(corpus, "corpus", case, session=session).rows
    answer = expected_answer(case).rows
    assert canonical_rows(rows) == answer
    assert scan_table(corpus, "corpus", case, [], session=session).rows.num_rows == sum(answer.values())
    key = "s" if case == "ext_bucketed_v2" else "id"
    kind, at = rows.schema.field(key).type, rows.schema.names.index(key)
    kept = total = 0
    for value in sorted(set(rows[key].to_pylist()), key=str):
        domain = Domain.only_null(kind) if value is None else Domain.single_value(kind, value)
        wanted = TupleDomain.with_column_domains({key: domain})
        scan = scan_table(corpus, "corpus", case, constraint=wanted)
        expected = Counter({row: count for row, count in answer.items() if row[at] == value})
        assert Counter({row: n for row, n in canonical_rows(scan.rows).items() if row[at] == value}) == expected
        kept += scan.summary.files_kept or 0
        total += scan.summary.files_total or 0
    assert 0 < kept < total / 2


@pytest.mark.parametrize("validated", [False, True], ids=["footers", "validated"])
@pytest.mark.parametrize("case", _CASES)
def test_counts_and_bounds_are_those_of_hives_rows(corpus: HiveConnector, case: str, validated: bool) -> None:
    answer = expected_answer(case).rows
    session = make_session(corpus, validate_bucketing=validated)
    at = scan_table(corpus, "corpus", case).rows.schema.names.index("id")
    ids = [row[at] for row in answer.elements() if row[at] is not None]
    count, known, low, high = _aggregated(corpus, "corpus", case, session)
    assert (count, known) == (sum(answer.values()), len(ids))
    assert (low, high) == (min(ids), max(ids))


def test_counts_check_the_buckets_where_that_is_asked(hive: HiveConnector, tmp_path: Path) -> None:
    parts = _dealt_out(version=2, count=4)
    _register(hive.metastore, tmp_path, {f"{bucket:06}_0": parts[3 - bucket] for bucket in range(4)})
    counts = ScanCounts()
    with counting(counts):
        assert _aggregated(hive, "s", "t", make_session(hive)) == (40, 40, 0, 39)
    assert counts.as_mapping()["ranges of files summed up by their footers"] == 4
    with pytest.raises(CorruptFileError, match="is of bucket 0, and a row in it is of bucket 3"):
        _aggregated(hive, "s", "t", make_session(hive, validate_bucketing=True))


def _aggregated(hive: HiveConnector, schema: str, name: str, session: ConnectorSession) -> tuple[int, int, int, int]:
    """Rows, values of ``id``, the least and the greatest of them."""
    with open_metadata(hive, session) as metadata:
        table = metadata.get_table_handle(session, SchemaTableName(schema, name))
        assert isinstance(table, HiveTableHandle)
        column = metadata.get_column_handles(session, table)["id"]
    long = pa.int64()
    functions = (
        AggregateFunction(AggregateKind.COUNT_ROWS, None, long),
        AggregateFunction(AggregateKind.COUNT, column, long),
        AggregateFunction(AggregateKind.MIN, column, column.type),
        AggregateFunction(AggregateKind.MAX, column, column.type),
    )
    aggregation = Aggregation((), functions)

    def aggregated(handle: HiveTableHandle) -> HiveTableHandle:
        with open_metadata(hive, session) as metadata:
            taken = metadata.apply_aggregation(session, handle, aggregation)
        assert taken is not None
        assert taken.columns == aggregated_columns(aggregation)
        return cast(HiveTableHandle, taken.table)

    groups = aggregated_columns(aggregation)
    rows = scan_table(hive, schema, name, [], session=session, handles=groups, changed=aggregated).rows
    count, known, low, high = rows.columns
    return pc.sum(count).as_py(), pc.sum(known).as_py(), pc.min(low).as_py(), pc.max(high).as_py()


def test_buckets_of_a_table_are_shown_and_filtered(corpus: HiveConnector) -> None:
    rows = scan_table(corpus, "corpus", "ext_bucketed_v2", ["s", "$bucket", "$path"]).rows.to_pylist()
    assert all(row["$path"].endswith(f"/00000{row['$bucket']}_0") for row in rows)
    third = TupleDomain.with_column_domains({"$bucket": Domain.single_value(pa.int32(), 2)})
    scan = scan_table(corpus, "corpus", "ext_bucketed_v2", ["s"], constraint=third)
    assert (scan.summary.files_kept, scan.summary.files_total) == (1, 4)
    assert Counter(scan.rows["s"].to_pylist()) == Counter(row["s"] for row in rows if row["$bucket"] == 2)


def test_any_number_of_files_is_of_a_bucket(hive: HiveConnector, tmp_path: Path) -> None:
    parts = _dealt_out(version=1, count=4)
    files = {f"{bucket:06}_0{suffix}": parts[bucket] for bucket in (0, 1, 3) for suffix in ("", "_copy_1", "_copy_12")}
    _register(hive.metastore, tmp_path, files, version=None)
    scan = scan_table(hive, "s", "t", constraint=_ids(5, 9, None))
    assert (scan.summary.files_kept, scan.summary.files_total) == (6, 9)
    assert "3 files are of other buckets" in scan.summary.notes
    assert scan.rows["id"].to_pylist().count(5) == 3
    off = make_session(hive, bucket_execution=False)
    assert scan_table(hive, "s", "t", constraint=_ids(5), session=off).summary.files_kept == 9


def test_a_file_whose_name_tells_no_bucket_turns_pruning_off(hive: HiveConnector, tmp_path: Path) -> None:
    parts = _dealt_out(version=2, count=4)
    files = {"000000_0": parts[0], "000001_0": parts[1], "000002_0": parts[2], "loaded.parquet": parts[3]}
    _register(hive.metastore, tmp_path, files)
    scan = scan_table(hive, "s", "t", ["id", "$bucket"], constraint=_ids(*range(40)))
    assert sorted(scan.rows["id"].to_pylist()) == list(range(40))
    assert scan_table(hive, "s", "t", constraint=_ids(7)).summary.files_kept == 4
    assert Counter(scan.rows["$bucket"].to_pylist())[None] == parts[3].num_rows
    with pytest.raises(CorruptFileError, match=r"loaded\.parquet has none of the 4 buckets of table s\.t") as caught:
        scan_table(hive, "s", "t", session=make_session(hive, validate_bucketing=True))
    assert caught.value.code.name == "HIVE_INVALID_BUCKET_FILES"


def test_rows_in_the_wrong_bucket_are_refused_where_they_are_checked(hive: HiveConnector, tmp_path: Path) -> None:
    parts = _dealt_out(version=2, count=4)
    _register(hive.metastore, tmp_path, {f"{bucket:06}_0": parts[3 - bucket] for bucket in range(4)})
    assert scan_table(hive, "s", "t").rows.num_rows == 40
    for columns in (None, ["s"], []):
        with pytest.raises(CorruptFileError, match="000000_0 is of bucket 0, and a row in it is of bucket 3") as caught:
            scan_table(hive, "s", "t", columns, session=make_session(hive, validate_bucketing=True))
        assert caught.value.code.name == "HIVE_INVALID_BUCKET_FILES"


def test_rows_that_old_hive_did_not_deal_out_are_not_lost(hive: HiveConnector, tmp_path: Path) -> None:
    # hive.enforce.bucketing was off: files are those of mappers.
    files = {f"{at:06}_0": _DATA.slice(at * 20, 20) for at in range(2)}
    _register(hive.metastore, tmp_path, files, version=1)
    with pytest.raises(CorruptFileError, match=r"hive\.bucket-execution=false"):
        scan_table(hive, "s", "t", constraint=_ids(4, 25))
    # Also where the statistics of the files that are chosen would have them skipped.
    with pytest.raises(CorruptFileError, match="000000_0 is of bucket 0"):
        scan_table(hive, "s", "t", constraint=_ids(36))
    # No file is of bucket 3.
    assert {7, 39} <= set(scan_table(hive, "s", "t", constraint=_ids(7, 39)).rows["id"].to_pylist())
    off = make_session(hive, bucket_execution=False)
    assert {4, 25} <= set(scan_table(hive, "s", "t", constraint=_ids(4, 25), session=off).rows["id"].to_pylist())


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("change", ["count", "type"])
def test_rows_that_were_dealt_out_before_alter_table_are_not_lost(
    hive: HiveConnector, tmp_path: Path, version: int, change: str
) -> None:
    """ALTER TABLE ... INTO 3 BUCKETS, or CHANGE id id BIGINT, rewrites no file; Hive goes on to answer as before."""
    rows = pa.table({"id": pa.array(range(-20, 20), pa.int32()), "s": ["k"] * 40})
    files = {f"{at:06}_0": part for at, part in enumerate(_dealt_out(version, 2 if change == "count" else 4, rows))}
    table = _register(hive.metastore, tmp_path, files, version=version)
    columns = table.storage.columns
    if change == "count":
        storage = replace(table.storage, bucket_count=3)
    else:
        storage = replace(table.storage, columns=(FieldSchema("id", "bigint"), *columns[1:]))
    hive.metastore.writes.drop_table("s", "t")
    hive.metastore.writes.create_table(replace(table, storage=storage))
    kind = pa.int64() if change == "type" else pa.int32()
    told = 0
    for value in range(-20, 20):
        wanted = TupleDomain.with_column_domains({"id": Domain.single_value(kind, value)})
        try:
            rows = scan_table(hive, "s", "t", constraint=wanted).rows
        except CorruptFileError:
            told += 1
        else:
            assert value in rows["id"].to_pylist()
    assert told


def test_files_of_spark_in_a_table_of_version_2_are_all_read(hive: HiveConnector, tmp_path: Path) -> None:
    """Spark writes them by the hash of version 1 whatever the table says."""
    files = {f"{at:06}_0": part for at, part in enumerate(_dealt_out(2, 4))}
    files |= {f"{at:05}_0_part-00000-3e0b8a4a.c000": part for at, part in enumerate(_dealt_out(1, 4))}
    _register(hive.metastore, tmp_path, files)
    for value in range(40):
        scan = scan_table(hive, "s", "t", constraint=_ids(value))
        assert scan.rows["id"].to_pylist().count(value) == 2


def test_a_filter_on_all_buckets_checks_none(hive: HiveConnector, tmp_path: Path) -> None:
    files = {f"{at:06}_0": _DATA.slice(at * 10, 10) for at in range(4)}
    _register(hive.metastore, tmp_path, files, version=1)
    scan = scan_table(hive, "s", "t", constraint=_ids(*range(40)))
    assert sorted(scan.rows["id"].to_pylist()) == list(range(40))


@pytest.mark.parametrize("version", [1, 2])
def test_dates_of_another_calendar_are_in_no_wrong_bucket(version: int) -> None:
    bucketing = Bucketing((ColumnHandle("d", pa.date32()),), ("",), 5, version)
    days = [date(1582, 10, 14), None, date(1582, 10, 15)]
    buckets = bucketing.buckets([pa.array(days, pa.date32())]).to_pylist()
    assert [bucket is None for bucket in buckets] == [True, False, False]


@pytest.mark.parametrize(
    "parameters",
    [
        {"spark.sql.sources.provider": "parquet", "spark.sql.sources.schema.numBuckets": "4"},
        {"spark.sql.sources.provider": "ORC"},
        {"bucketing_version": "3"},
    ],
)
def test_other_bucketing_than_hives_is_none(hive: HiveConnector, tmp_path: Path, parameters: Mapping[str, str]) -> None:
    # Spark's own hash, under names that tell Hive's buckets.
    parts = _dealt_out(version=2, count=4)
    files = {f"{bucket:06}_0": parts[3 - bucket] for bucket in range(4)}
    _register(hive.metastore, tmp_path, files, parameters=parameters)
    session = make_session(hive, validate_bucketing=True)
    scan = scan_table(hive, "s", "t", constraint=_ids(7), session=session)
    assert scan.summary.files_kept == 4
    assert 7 in scan.rows["id"].to_pylist()


@pytest.mark.parametrize("change", ["count", "columns", "type"])
def test_a_partition_bucketed_otherwise_is_read_whole(hive: HiveConnector, tmp_path: Path, change: str) -> None:
    parts = _dealt_out(version=2, count=4)
    files = {f"p=a/{bucket:06}_0": parts[3 - bucket] for bucket in range(4)}
    files |= {f"p=b/{bucket:06}_0": parts[bucket] for bucket in range(4)}
    table = _register(hive.metastore, tmp_path, files, keys=["p"])
    own = table.storage
    if change == "count":
        other = replace(own, bucket_count=8)
    elif change == "columns":
        other = replace(own, bucket_columns=("s",))
    else:
        other = replace(own, columns=(FieldSchema("id", "smallint"), own.columns[1]))
    for value, changed in (("a", other), ("b", own)):
        at = replace(changed, location=f"{own.location}/p={value}")
        hive.metastore.writes.add_partitions("s", "t", [Partition("s", "t", (value,), at)])
    scan = scan_table(hive, "s", "t", ["id", "p", "$bucket"], constraint=_ids(7))
    assert scan.summary.files_kept == 5
    found = [row for row in scan.rows.to_pylist() if row["id"] == 7]
    assert {row["p"]: row["$bucket"] is None for row in found} == {"a": True, "b": False}


def test_names_of_files_tell_buckets() -> None:
    known = {
        "000001_0": 1,
        "000001_1000": 1,
        "000001_0_copy_1": 1,
        "000001_0.gz": 1,
        "000001_0.snappy": 1,
        # A full name of Trino's, and one of Presto's before it.
        "0000002_0_20180317_061522_00001_abcde": 2,
        "20180102_123456_00009_abcde_bucket-00003": 3,
        "00003_0_part-00000-3e0b8a4a-0000.c000.orc": 3,
        "bucket_00002": 2,
        "bucket_00002_0": 2,
        "000004_0": None,
        "part-00000-3e0b8a4a_00001.c000.snappy.parquet": None,
        "20180102_123456_00009_abcde": None,
        "data.orc": None,
        "00_1": None,
    }
    paths = [f"/x/y_0/{name}" for name in known]
    assert file_buckets(paths, 4, 1) == list(known.values())
    # Spark has the hash of version 1 alone.
    of_spark = {"00003_0_part-00000-3e0b8a4a-0000.c000.orc": None}
    assert file_buckets(paths, 4, 2) == list((known | of_spark).values())


_VALUES: dict[pa.DataType, st.SearchStrategy[Value]] = {
    pa.bool_(): st.booleans(),
    pa.int32(): st.integers(-3, 3),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float64(): st.sampled_from([0.0, -0.0, 1.5, float("nan"), float("inf")]),
    pa.string(): st.text(max_size=3),
    pa.decimal128(5, 2): st.decimals(-9, 9, places=2),
}


@settings(max_examples=examples(150), deadline=None)
@given(data=st.data())
def test_no_bucket_of_a_row_that_fits_is_left_out(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(list(_VALUES)), min_size=1, max_size=2))
    columns = tuple(ColumnHandle(f"c{at}", kind) for at, kind in enumerate(kinds))
    bucketing = Bucketing(
        columns, ("",) * len(columns), data.draw(st.integers(1, 9)), data.draw(st.sampled_from([1, 2]))
    )
    domains: dict[ColumnHandle, Domain] = {}
    rows: list[list[Value | None]] = []
    for column in columns:
        values = st.none() | _VALUES[column.type]
        chosen = data.draw(st.lists(values, min_size=1, max_size=3))
        present = [value for value in chosen if value is not None]
        domains[column] = Domain.create(ValueSet.of(column.type, present), None in chosen)
        rows.append([*chosen, *data.draw(st.lists(values, min_size=5, max_size=5))])
    wanted = wanted_buckets(bucketing, TupleDomain.with_column_domains(domains))
    width = min(map(len, rows))
    arrays = [pa.array(values[:width], column.type) for values, column in zip(rows, columns, strict=True)]
    for row, bucket in zip(zip(*arrays, strict=True), bucketing.buckets(arrays).to_pylist(), strict=True):
        fits = all(domains[column].includes_value(cell.as_py()) for column, cell in zip(columns, row, strict=True))
        assert wanted is None or not fits or bucket in wanted


def test_a_filter_that_does_not_name_values_leaves_all_buckets() -> None:
    one, two = ColumnHandle("a", pa.int32()), ColumnHandle("b", pa.string())
    bucketing = Bucketing((one, two), ("", ""), 8, 2)
    some = Domain.multiple_values(pa.int32(), [1, 2])
    text = Domain.single_value(pa.string(), "x")
    above = Domain.create(ValueSet.of_ranges(pa.int32(), [Range.greater_than(pa.int32(), 5)]), False)
    assert wanted_buckets(bucketing, TupleDomain.with_column_domains({one: some})) is None
    assert wanted_buckets(bucketing, TupleDomain.with_column_domains({one: above, two: text})) is None
    many = Domain.multiple_values(pa.int32(), range(70_000))
    assert wanted_buckets(bucketing, TupleDomain.with_column_domains({one: many, two: text})) is None
    # What is none of the column's type, which a filter of Arrow may say, is in no bucket that could be told.
    beyond = Domain.single_value(pa.int32(), 1 << 40)
    assert wanted_buckets(bucketing, TupleDomain.with_column_domains({one: beyond, two: text})) is None
    both = wanted_buckets(bucketing, TupleDomain.with_column_domains({one: some, two: text}))
    assert both is not None
    assert 1 <= len(both) <= 2
    # HiveChar compares and hashes without its padding.
    char = Bucketing((two,), ("char",), 1000, 2)
    padded = Domain.single_value(pa.string(), "x   ")
    same = [wanted_buckets(char, TupleDomain.with_column_domains({two: domain})) for domain in (text, padded)]
    assert same[0] == same[1] is not None


def _ids(*values: int | None) -> TupleDomain[str]:
    present = ValueSet.of(pa.int32(), [value for value in values if value is not None])
    return TupleDomain.with_column_domains({"id": Domain.create(present, None in values)})


def _dealt_out(version: int, count: int, rows: pa.Table = _DATA) -> list[pa.Table]:
    """The rows of each bucket; the hashes are proven elsewhere."""
    bucketing = Bucketing((ColumnHandle("id", pa.int32()),), ("",), count, version)
    buckets = bucketing.buckets([rows["id"].combine_chunks()])
    return [rows.filter(pc.equal(buckets, bucket)) for bucket in range(count)]


def _register(
    metastore: Metastore,
    folder: Path,
    files: Mapping[str, pa.Table],
    *,
    version: int | None = 2,
    parameters: Mapping[str, str] | None = None,
    keys: Sequence[str] = (),
) -> Table:
    for name, rows in files.items():
        write_file(folder / "t" / name, rows, "parquet")
    columns = [FieldSchema(field.name, hive_type_text(field.type)) for field in _DATA.schema]
    told = {
        "EXTERNAL": "TRUE",
        **({} if version is None else {"bucketing_version": str(version)}),
        **(parameters or {}),
    }
    own = replace(storage(columns, folder / "t", "parquet"), bucket_count=4, bucket_columns=("id",))
    by = tuple(FieldSchema(key, "string") for key in keys)
    table = Table("s", "t", own, by, Parameters.of(told), "EXTERNAL_TABLE")
    metastore.writes.create_database(Database("s"))
    metastore.writes.create_table(table)
    return table
