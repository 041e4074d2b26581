"""Queries that leave out files by the metadata table's statistics, against the same queries that do not."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.predicate import (
    Call,
    ColumnReference,
    ConnectorExpression,
    Constant,
    Constraint,
    Domain,
    Function,
    Range,
    TupleDomain,
    Value,
    ValueSet,
    normalize,
)
from connector_spi.splits import ScanSummary
from connector_spi.testing.reference_queries import rows_that_fit_expression
from connectors.hudi.handles import HudiSplit
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.paths import CORPUS, TABLES
from tests.rows import Rows, bag

_ORDERED = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_string,
    pa.types.is_boolean,
    pa.types.is_date,
    pa.types.is_timestamp,
    pa.types.is_decimal,
)


@cache
def with_column_stats() -> tuple[Path, ...]:
    archives = sorted([*(CORPUS / "hudi").glob("*.zip"), *(TABLES / "hudi").glob("*.zip")])
    return tuple(path for path in archives if _indexes(path) >= {"files", "column_stats"})


def _indexes(archive: Path) -> set[str]:
    with zipfile.ZipFile(archive) as packed:
        [name] = [name for name in packed.namelist() if name.count("/") == 2 and name.endswith("/hoodie.properties")]
        lines = packed.read(name).decode().splitlines()
    key = "hoodie.table.metadata.partitions="
    return {part for line in lines if line.startswith(key) for part in line.removeprefix(key).split(",")}


def opened(archive: Path, folder: Path) -> HudiCatalog:
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder / "table")
    [table] = [path for path in (folder / "table").iterdir() if (path / ".hoodie").is_dir()]
    catalog = make_catalog(folder)
    catalog.register(table)
    return catalog


@dataclass(frozen=True)
class Question:
    """A filter on one column."""

    column: str
    domain: Domain

    @property
    def constraint(self) -> TupleDomain[ColumnHandle]:
        return TupleDomain.with_column_domains({ColumnHandle(self.column, self.domain.type): self.domain})

    def rows(self, table: pa.Table) -> Rows:
        """The rows that fit."""
        mask = [self.domain.includes_value(value) for value in table.column(self.column).to_pylist()]
        return bag(table.filter(pa.array(mask, pa.bool_())))


def questions(table: pa.Table, chance: random.Random, count: int) -> Iterator[Question]:
    """Filters about values that are in a table, and about what lies between and beyond them."""
    columns = [field for field in table.schema if any(kind(field.type) for kind in _ORDERED)]
    for _ in range(count):
        field = chance.choice(columns)
        values = sorted({value for value in table.column(field.name).to_pylist() if value is not None})
        yield Question(field.name, _domain(field.type, values, chance))


def _domain(arrow: pa.DataType, values: Sequence[Value], chance: random.Random) -> Domain:
    if not values or chance.random() < 0.15:
        return Domain.only_null(arrow) if chance.random() < 0.5 else Domain.not_null(arrow)
    low, high = sorted((chance.randrange(len(values)), chance.randrange(len(values))))
    ranges = [
        Range.equal(arrow, values[low]),
        Range.greater_than(arrow, values[high]),
        Range.less_than(arrow, values[low]),
        Range.greater_or_equal(arrow, values[high]),
        Range.less_or_equal(arrow, values[low]),
        Range.between(arrow, values[low], True, values[high], chance.random() < 0.5 or low == high),
    ]
    return Domain(ValueSet.of_ranges(arrow, [chance.choice(ranges)]), chance.random() < 0.2)


def summary(catalog: HudiCatalog, question: Question) -> ScanSummary:
    """What a scan says of itself."""
    with catalog.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert table is not None
        source = catalog.connector.split_manager.get_splits(
            transaction, catalog.session, table, (), question.constraint
        )
        list(source)
        return source.summary()


@pytest.mark.skipif(not with_column_stats(), reason=f"no tables in {CORPUS} and {TABLES}")
@pytest.mark.parametrize("archive", with_column_stats(), ids=lambda path: path.stem)
def test_skipping_loses_no_row(archive: Path, tmp_path: Path) -> None:
    try:
        catalog = opened(archive, tmp_path)
        everything = catalog.with_property("metadata_enabled", False).read()
    except NotSupportedError as error:
        pytest.skip(error.message)
    assert bag(catalog.read()) == bag(everything)
    chance = random.Random(archive.stem)
    for question in questions(everything, chance, 12):
        assert question.rows(catalog.read(constraint=question.constraint)) == question.rows(everything), question
        notes = summary(catalog, question).notes
        assert notes == ("files by the metadata table",)


def condition_on(table: pa.Table, chance: random.Random) -> ConnectorExpression:
    """An OR over two columns, of which one branch may be an AND or negated."""
    first, second, third = (_comparison(table, chance) for _ in range(3))
    if chance.random() < 0.3:
        second = Call(Function.AND, (second, third))
    if chance.random() < 0.3:
        first = Call(Function.NOT, (first,))
    return Call(Function.OR, (first, second))


def _comparison(table: pa.Table, chance: random.Random) -> ConnectorExpression:
    field = chance.choice([field for field in table.schema if any(kind(field.type) for kind in _ORDERED)])
    column = ColumnReference(ColumnHandle(field.name, field.type))
    values = [value for value in table.column(field.name).to_pylist() if value is not None]
    if not values or chance.random() < 0.1:
        return Call(Function.IS_NULL, (column,))
    function = chance.choice([Function.EQUAL, Function.LESS, Function.GREATER_OR_EQUAL, Function.NOT_EQUAL])
    return Call(function, (column, Constant(normalize(field.type, chance.choice(values)), field.type)))


def fitting(table: pa.Table, condition: ConnectorExpression) -> Rows:
    """The rows for which a condition is true."""
    return bag(rows_that_fit_expression(table, condition))


@pytest.mark.slow
@pytest.mark.skipif(not with_column_stats(), reason=f"no tables in {CORPUS} and {TABLES}")
@pytest.mark.parametrize("archive", with_column_stats(), ids=lambda path: path.stem)
def test_skipping_by_an_or_over_columns_loses_no_row(archive: Path, tmp_path: Path) -> None:
    try:
        catalog = opened(archive, tmp_path)
        everything = catalog.with_property("metadata_enabled", False).read()
    except NotSupportedError as error:
        pytest.skip(error.message)
    chance = random.Random(archive.stem)
    for _ in range(12):
        condition = condition_on(everything, chance)
        met = catalog.read(expressions=(condition,))
        assert fitting(met, condition) == fitting(everything, condition), str(condition)


@pytest.mark.parametrize("case", ["v6_mdt_all_v6_cow", "v8_mdt_all_cow"])
def test_files_are_skipped_by_an_or_over_columns(case: str, tmp_path: Path) -> None:
    archive = CORPUS / "hudi" / f"{case}.zip"
    if not archive.exists():
        pytest.skip(f"no tables in {CORPUS}")
    catalog = opened(archive, tmp_path)
    catalog = catalog.with_property("record_level_index_enabled", False)
    rows = catalog.read(columns=["id", "name", "_hoodie_file_name"]).to_pylist()
    one, other = rows[0], next(row for row in rows if row["_hoodie_file_name"] != rows[0]["_hoodie_file_name"])
    number, text = ColumnReference(ColumnHandle("id", pa.int32())), ColumnReference(ColumnHandle("name", pa.string()))
    nowhere = Call(Function.EQUAL, (text, Constant("!", pa.string())))
    for wanted in ([one], [one, other]):
        values = tuple(Constant(row["id"], pa.int32()) for row in wanted)
        found = files_of(catalog, Call(Function.OR, (Call(Function.IN, (number, *values)), nowhere)))
        assert {row["_hoodie_file_name"] for row in wanted} <= found < {row["_hoodie_file_name"] for row in rows}
    assert (
        files_of(catalog, Call(Function.OR, (nowhere, Call(Function.LESS, (number, Constant(-1, pa.int32()))))))
        == set()
    )


def files_of(catalog: HudiCatalog, condition: ConnectorExpression) -> set[str]:
    """Bare names of the base files of a scan's splits."""
    with catalog.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert table is not None
        taken = metadata.apply_filter(catalog.session, table, Constraint(TupleDomain.all(), (), (condition,)))
        assert taken is not None
        splits = catalog.splits(transaction, taken.table, ())
        return {split.path.rpartition("/")[2] for split in splits if isinstance(split, HudiSplit)}


def with_record_index() -> list[Path]:
    return [path for path in with_column_stats() if "record_index" in _indexes(path)]


def key_question(field: str, arrow: pa.DataType, *keys: Value) -> Question:
    return Question(field, Domain.multiple_values(arrow, keys))


def by_record_index_alone(archive: Path, folder: Path) -> HudiCatalog:
    catalog = opened(archive, folder)
    for name in ("column_stats_index_enabled", "partition_stats_index_enabled"):
        catalog = catalog.with_property(name, False)
    return catalog


@pytest.mark.skipif(not with_column_stats(), reason=f"no tables in {CORPUS} and {TABLES}")
@pytest.mark.parametrize("archive", with_record_index(), ids=lambda path: path.stem)
def test_record_keys_are_found(archive: Path, tmp_path: Path) -> None:
    catalog = by_record_index_alone(archive, tmp_path)
    everything = catalog.with_property("metadata_enabled", False).read()
    keys = sorted(set(everything.column("_hoodie_record_key").to_pylist()))
    for some in ([key] for key in [*keys, "nowhere"]):
        question = key_question("_hoodie_record_key", pa.string(), *some)
        assert question.rows(catalog.read(constraint=question.constraint)) == question.rows(everything), some


@pytest.mark.parametrize("case", ["v6_mdt_all_v6_cow", "v8_mdt_all_cow", "v9_rli_global_cow"])
def test_only_the_file_of_a_key_is_read(case: str, tmp_path: Path) -> None:
    archive = CORPUS / "hudi" / f"{case}.zip"
    if not archive.exists():
        pytest.skip(f"no tables in {CORPUS}")
    catalog = by_record_index_alone(archive, tmp_path)
    for question in (key_question("_hoodie_record_key", pa.string(), "1"), key_question("id", pa.int32(), 1)):
        planned = summary(catalog, question)
        assert planned.files_kept == 1
        assert planned.files_total is not None
        assert planned.files_total > 1
    # A key that is nowhere might be written otherwise, and no index at all keeps all.
    assert summary(catalog, key_question("id", pa.int32(), 4711)).files_kept == planned.files_total
    off = catalog.with_property("record_level_index_enabled", False)
    assert summary(off, key_question("id", pa.int32(), 1)).files_kept == planned.files_total


def test_a_key_that_the_table_holds_twice_is_read_twice(tmp_path: Path) -> None:
    """The index has one location for each key."""
    archive = TABLES / "hudi" / "cow_v9_timebasedkeygen_nonhivestyle.zip"
    if not archive.exists():
        pytest.skip(f"no tables in {TABLES}")
    catalog = by_record_index_alone(archive, tmp_path)
    question = key_question("_hoodie_record_key", pa.string(), "TXN-001")
    assert catalog.read(constraint=question.constraint).column("_hoodie_record_key").to_pylist().count("TXN-001") == 2


@pytest.mark.parametrize("case", ["v6_mdt_all_v6_cow", "v8_mdt_all_cow", "v9_rli_global_cow", "v9_nonpart_mor"])
def test_a_damaged_metadata_table_loses_no_row(case: str, tmp_path: Path) -> None:
    """Its files are cut off, changed in one bit, or gone."""
    archive = CORPUS / "hudi" / f"{case}.zip"
    if not archive.exists():
        pytest.skip(f"no tables in {CORPUS}")
    catalog = opened(archive, tmp_path)
    everything = catalog.with_property("metadata_enabled", False).read()
    chance = random.Random(case)
    asked = list(questions(everything, chance, 5))
    folder = tmp_path / "table" / case / ".hoodie" / "metadata"
    names = [path for path in sorted(folder.rglob("*")) if ".hfile" in path.name or ".log." in path.name]
    for _ in range(25):
        path = chance.choice(names)
        whole = path.read_bytes()
        damaged = bytearray(whole)
        damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        left = chance.choice([bytes(damaged), whole[: chance.randrange(len(whole))], None])
        path.unlink()
        if left is not None:
            path.write_bytes(left)
        question = chance.choice(asked)
        assert bag(catalog.read()) == bag(everything), path
        assert question.rows(catalog.read(constraint=question.constraint)) == question.rows(everything), path
        path.write_bytes(whole)


@pytest.mark.parametrize("case", ["v6_mdt_all_v6_mor", "v8_mdt_all_mor", "v9_nonpart_mor"])
def test_statistics_do_not_hide_logs_that_are_merged_by_unknown_code(case: str, tmp_path: Path) -> None:
    """It may make values that are in no file, such as sums."""
    archive = CORPUS / "hudi" / f"{case}.zip"
    if archive not in with_column_stats():
        pytest.skip(f"no such table in {CORPUS}")
    catalog = opened(archive, tmp_path)
    [properties] = (tmp_path / "table").glob("*/.hoodie/hoodie.properties")
    strategy = "hoodie.compaction.payload.class=a.Sum\nhoodie.record.merge.mode=CUSTOM\n"
    kept = [line for line in properties.read_text().splitlines() if "payload" not in line and "merge" not in line]
    properties.write_text("\n".join([*(line for line in kept if "checksum" not in line), strategy]))
    question = key_question("id", pa.int32(), -4711)
    with pytest.raises(NotSupportedError):
        catalog.read(constraint=question.constraint)
