"""Queries that leave out files by the metadata table's statistics, against the same queries that do not."""

from __future__ import annotations

import random
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Domain, Range, TupleDomain, Value, ValueSet
from connector_spi.splits import ScanSummary
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.rows import bag
from tests.paths import CORPUS, TABLES

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

    def rows(self, table: pa.Table) -> Counter[object]:
        """The rows that fit."""
        mask = [self.domain.includes_value(value) for value in table.column(self.column).to_pylist()]
        return Counter(dict(bag(table.filter(pa.array(mask, pa.bool_())))))


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
