"""What a connector says it has filtered is filtered exactly: hard values, hard names, long lists, several writes."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from connector_spi.names import SchemaTableName
from connector_spi.predicate import Domain, Range, TupleDomain, Value, ValueSet
from connector_spi.testing.base import ConformanceBase, assert_same_rows
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.reading import read_table, rows_that_fit
from connector_spi.testing.sample_data import mixed_table, without_missing_values

__all__ = ["ExactnessChecks"]

_INTEGERS = [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, -(2**53), 2**63 - 1, -(2**63), 0, None]
_STRINGS = [
    *("a", "A", "ä", "Ä", "a ", " a", "a\u0308", "aa", "", "-"),
    *("it's", 'say "hi"', "`tick`", "50%", "5_%", "a_b", "axb", "back\\slash", "back\\\\slash", "null", "NULL"),
    *("' OR '1'='1", "'; DROP TABLE t; --", "\U0001f600", "\uffff", "?", ":1", "{0}", "%s", None),
]
_KEYWORDS = ("select", "from", "where", "order", "group", "by", "limit", "table", "index", "values", "user", "key")
_ODD_NAMES = ("o'clock", 'say "hi"', "a b", "back`tick", "50%", "semi;colon", "dot.ted", "que?ry", "ä")


class ExactnessChecks(ConformanceBase):
    """Values and names that are easily taken for others."""

    def test_integers_are_compared_as_integers(self) -> None:
        self._check_each("n", pa.array(_INTEGERS, pa.int64()))

    def test_strings_are_compared_letter_by_letter(self) -> None:
        self._check_each("v", pa.array(_STRINGS, pa.string()))

    @pytest.mark.parametrize("count", [101, 900])
    def test_long_lists_are_exact(self, count: int) -> None:
        data = pa.table({"id": pa.array(range(1800), pa.int64()), "v": pa.array([f"v{row}" for row in range(1800)])})
        name = self.made(data)
        for column, values in (("id", range(0, 2 * count, 2)), ("v", [f"v{row}" for row in range(0, 2 * count, 2)])):
            domain = Domain.multiple_values(data.schema.field(column).type, values)
            self._check(name, data, TupleDomain({column: domain}))

    def test_columns_may_be_named_as_keywords_are(self) -> None:
        self._check_names(_KEYWORDS)

    def test_columns_may_have_any_name(self) -> None:
        self.require(Behaviour.ANY_COLUMN_NAME)
        self._check_names(_ODD_NAMES)

    def test_a_limit_after_a_filter_counts_what_the_filter_lets_through(self) -> None:
        self.require(Behaviour.LIMIT)
        data = mixed_table(self.missing_behaviours)
        name = self.made(data)
        late = TupleDomain({"id": Domain.multiple_values(pa.int64(), range(14, 24))})
        with self.query() as query:
            filtered = query.table(name).filter_by_name(late)
            if not filtered.remaining.is_all:
                pytest.skip("the engine offers no limit while a filter is left")
            rows = filtered.limit(7)[0].read_raw()
        ids = set(rows.column("id").to_pylist())
        assert len(ids) >= 7, f"the limit 7 left {sorted(ids)} of the 10 rows that fit the filter"
        assert ids <= set(range(14, 24)), f"rows came that do not fit the filter: {sorted(ids - set(range(14, 24)))}"

    def test_filters_find_rows_at_the_end_of_many(self) -> None:
        count = 6_000
        data = pa.table({"id": pa.array(range(count), pa.int64())})
        name = self.made(data)
        for low in (0, count - 3):
            domain = Domain.create(
                ValueSet.of_ranges(pa.int64(), [Range.greater_or_equal(pa.int64(), low)]), null_allowed=False
            )
            met = read_table(self.connector, name, ["id"], TupleDomain({"id": domain})).column("id")
            assert len(met) == count - low, f"id >= {low}: {len(met)} rows came, expected {count - low}"
            assert sum(met.to_pylist()) == sum(range(low, count))

    def test_rows_of_several_writes_all_come(self) -> None:
        self.require(Behaviour.ADDED_ROWS)
        parts = [
            pa.table({"id": pa.array([2 * at, 2 * at + 1], pa.int64()), "v": pa.array([f"w{at}", None])})
            for at in range(4)
        ]
        name = self.made(parts[0])
        for part in parts[1:]:
            self.add_rows(name, part)
        data = pa.concat_tables(parts)
        self._check(name, data, TupleDomain.all())
        for part in parts:
            fitting = Domain.multiple_values(pa.int64(), part.column("id").to_pylist())
            self._check(name, data, TupleDomain({"id": fitting}))

    def _check_each(self, column: str, values: pa.Array) -> None:
        ids = pa.array(range(len(values)), pa.int64())
        data = without_missing_values(pa.table({"id": ids, column: values}), self.missing_behaviours)
        name, data_type = self.made(data), values.type
        for value in data.column(column).drop_null().unique().to_pylist():
            sets = [
                ValueSet.of(data_type, [value]),
                ValueSet.of_ranges(data_type, [Range.greater_than(data_type, value)]),
            ]
            for chosen in sets:
                self._check(name, data, TupleDomain.with_column_domains({column: Domain.create(chosen, False)}))

    def _check_names(self, names: Sequence[str]) -> None:
        columns: dict[str, pa.Array] = {"id": pa.array([1, 2, 3], pa.int64())}
        columns.update({name: pa.array([f"{name}1", None, f"{name}3"]) for name in names})
        data = pa.table(columns)
        name = self.made(data)
        self._check(name, data, TupleDomain.all())
        for column in names:
            wanted: Value = f"{column}3"
            self._check(name, data, TupleDomain({column: Domain.single_value(pa.string(), wanted)}))

    def _check(self, name: SchemaTableName, data: pa.Table, predicate: TupleDomain[str]) -> None:
        met = read_table(self.connector, name, data.column_names, predicate)
        try:
            assert_same_rows(met, rows_that_fit(data, predicate))
        except AssertionError as error:
            raise AssertionError(f"filter {predicate}: {error}") from None
