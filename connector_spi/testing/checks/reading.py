"""Rows and types without pushdown."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest

from connector_spi.handles import ColumnHandle
from connector_spi.page_source import MAX_BATCH_ROWS
from connector_spi.testing.base import SCHEMA, ConformanceBase, assert_same_rows, same_type
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.reading import read_table
from connector_spi.testing.sample_data import (
    NESTED_TABLE,
    TYPED_COLUMNS,
    VALUES,
    column_table,
    mixed_table,
    without_missing_values,
)

__all__ = ["ReadingChecks"]

_X = pa.struct([("x", pa.int32())])
_ZX = pa.struct([("z", pa.float64()), ("x", pa.int32())])


class ReadingChecks(ConformanceBase):
    """Every type, projections, empty tables, nested types."""

    @pytest.mark.parametrize("behaviour", list(TYPED_COLUMNS), ids=[item.name for item in TYPED_COLUMNS])
    def test_values_and_nulls_of_a_type_come_back(self, behaviour: Behaviour) -> None:
        self.require(behaviour)
        data = column_table(behaviour, self.missing_behaviours)
        name = self.made(data)
        met = read_table(self.connector, name)
        met_type, expected_type = met.schema.field("v").type, data.schema.field("v").type
        assert same_type(met_type, expected_type), f"column 'v' has the type {met_type}, expected {expected_type}"
        assert_same_rows(met, data)

    def test_int64_and_string_come_back(self) -> None:
        data = pa.table(
            {
                "id": pa.array([-(2**63), 2**63 - 1, 0, 1], pa.int64()),
                "v": pa.array(["", None, "ä \n\t'\"`\\", "\U0001f600"]),
            }
        )
        data = without_missing_values(data, self.missing_behaviours)
        assert_same_rows(read_table(self.connector, self.made(data)), data)

    @pytest.mark.parametrize("behaviour", list(VALUES), ids=[item.name for item in VALUES])
    def test_a_value_comes_back_as_it_is(self, behaviour: Behaviour) -> None:
        value = VALUES[behaviour]
        self.require(behaviour, *([Behaviour.TYPE_DOUBLE] if isinstance(value, float) else []))
        data = pa.table({"id": pa.array([1, 2], pa.int64()), "v": pa.array([value, None])})
        assert_same_rows(read_table(self.connector, self.made(data)), data)

    def test_a_column_of_nulls_only_comes_back(self) -> None:
        data = pa.table({"id": pa.array([1, 2], pa.int64()), "v": pa.array([None, None], pa.string())})
        assert_same_rows(read_table(self.connector, self.made(data)), data)

    def test_columns_come_in_the_asked_order(self) -> None:
        data = mixed_table(self.missing_behaviours)
        name = self.made(data)
        backwards = data.column_names[::-1]
        assert_same_rows(read_table(self.connector, name, backwards), data.select(backwards))
        assert_same_rows(read_table(self.connector, name, ["name"]), data.select(["name"]))

    def test_partition_keys_are_read_like_other_columns(self) -> None:
        self.require(Behaviour.PARTITIONED_TABLES)
        data = mixed_table(self.missing_behaviours)
        name = self.made(data, ("part",))
        for columns in (["part", "id"], ["part"], ["id"], list(data.column_names)):
            assert_same_rows(read_table(self.connector, name, columns), data.select(columns))

    def test_two_partition_keys(self) -> None:
        self.require(Behaviour.PARTITIONED_TABLES)
        data = mixed_table(self.missing_behaviours)
        halves = pa.array([f"h{row % 2}" for row in range(data.num_rows)])
        data = data.select(["id", "name", "part"]).append_column("half", halves)
        name = self.made(data, ("part", "half"))
        assert_same_rows(read_table(self.connector, name, data.column_names), data)

    def test_a_null_partition_key_comes_back(self) -> None:
        self.require(Behaviour.PARTITIONED_TABLES, Behaviour.NULL_PARTITION_KEYS)
        data = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "part": pa.array(["a", None, "b c/d=e%"])})
        name = self.made(data, ("part",))
        assert_same_rows(read_table(self.connector, name, ["id", "part"]), data)

    def test_no_columns_count_rows(self) -> None:
        data = mixed_table(self.missing_behaviours)
        assert read_table(self.connector, self.made(data), []).num_rows == data.num_rows
        if self.has(Behaviour.PARTITIONED_TABLES):
            partitioned = self.made(data, ("part",), table="p")
            assert read_table(self.connector, partitioned, []).num_rows == data.num_rows

    def test_a_table_of_no_rows(self) -> None:
        self.require(Behaviour.EMPTY_TABLES)
        data = mixed_table(self.missing_behaviours).slice(0, 0)
        name = self.made(data)
        assert_same_rows(read_table(self.connector, name), data)
        assert read_table(self.connector, name, []).num_rows == 0

    @pytest.mark.parametrize(
        ("column", "narrowed"),
        [("st", _X), ("st", _ZX), ("items", pa.list_(_X)), ("items", pa.list_(_ZX))],
        ids=["struct", "struct reordered", "list of structs", "list of structs reordered"],
    )
    def test_nested_types_are_narrowed_to_the_fields_used(self, column: str, narrowed: pa.DataType) -> None:
        self.require(Behaviour.NESTED_PROJECTION, Behaviour.TYPE_STRUCT, Behaviour.TYPE_LIST)
        name = self.made(NESTED_TABLE)
        with self.query() as query:
            scan = query.table(name)
            narrow = dataclasses.replace(scan.column(column), type=narrowed)
            met = scan.project((scan.column("id"), narrow)).read()
        assert met.schema.field(column).type == narrowed
        expected = pa.array([_narrow(value, narrowed) for value in NESTED_TABLE.column(column).to_pylist()], narrowed)
        assert_same_rows(met, pa.table({"id": NESTED_TABLE.column("id"), column: expected}))

    def test_many_rows_come_in_bounded_batches_exactly_once(self) -> None:
        count = 300_000
        data = pa.table({"id": pa.array(range(count), pa.int64())})
        name = self.made(data)
        with self.query() as query:
            scan = query.table(name)
            splits, _ = scan.splits()
            tables = [scan.read_split(split) for split in splits]
        largest = max(len(chunk) for table in tables for chunk in table.column("id").chunks)
        assert largest <= MAX_BATCH_ROWS, f"a batch of {largest} rows; expected at most {MAX_BATCH_ROWS}"
        ids = pa.concat_tables(tables).column("id").to_pylist()
        assert sorted(ids) == list(range(count))

    @pytest.mark.parametrize("parts", [2, 7])
    def test_cut_splits_have_the_same_rows(self, parts: int) -> None:
        count = 20_000
        name = self.made(pa.table({"id": pa.array(range(count), pa.int64())}))
        with self.query() as query:
            scan = query.table(name)
            splits, _ = scan.splits()
            cut = [part for split in splits for part in split.cut(max(1, split.size_bytes // parts))]
            ids = pa.concat_tables([scan.read_split(part) for part in cut]).column("id").to_pylist()
        assert sorted(ids) == list(range(count))

    def test_tables_of_several_schemas_are_told_apart(self) -> None:
        self.require(Behaviour.SEVERAL_SCHEMAS)
        here = self.made(pa.table({"id": pa.array([1], pa.int64())}))
        there = dataclasses.replace(here, schema="a_schema")
        self.create_table(there, pa.table({"id": pa.array([2], pa.int64())}), ())
        assert here.schema == SCHEMA
        assert read_table(self.connector, here).column("id").to_pylist() == [1]
        assert read_table(self.connector, there).column("id").to_pylist() == [2]

    def test_column_handles_may_be_made_by_the_engine(self) -> None:
        name = self.made(pa.table({"id": pa.array([1], pa.int64())}))
        with self.query() as query:
            handle = query.table(name).column("id")
        assert isinstance(handle, ColumnHandle)
        assert dataclasses.replace(handle) == handle
        assert hash(dataclasses.replace(handle)) == hash(handle)


def _narrow(value: object, narrowed: pa.DataType) -> object:
    if isinstance(value, list):
        return [_narrow(item, narrowed.value_type) for item in value]
    if isinstance(value, dict):
        return {field.name: value[field.name] for field in narrowed}
    return value
