"""What a failed comparison of rows says."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.hive_corpus import canonical_rows
from tests.rows import assert_same_table, explain_rows, first_difference

TABLE = pa.table({"id": [1, 2, 2, 3], "name": ["a", "b", "b", None], "price": [0.5, 1.0, 1.0, float("nan")]})


def changed(position: int, column: str, value: object) -> pa.Table:
    values = TABLE[column].to_pylist()
    values[position] = value
    return TABLE.set_column(TABLE.column_names.index(column), column, pa.array(values, TABLE[column].type))


def test_order_does_not_count_but_how_often_a_row_comes() -> None:
    assert_same_table(TABLE.take([3, 2, 1, 0]), TABLE)
    with pytest.raises(AssertionError, match="rows: 1 missing, 0 that should not be there"):
        assert_same_table(TABLE.slice(1), TABLE)
    with pytest.raises(AssertionError, match=r"first that should not be there: id=2, name='b', price=1\.0"):
        assert_same_table(TABLE, TABLE.take([0, 1, 3]))


def test_a_difference_names_the_column_and_the_row() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_same_table(changed(3, "name", "c"), TABLE)
    says = str(caught.value)
    assert "column name: met 'c', expected None" in says
    assert "in the row id=3, name=None, price='NaN'" in says


def test_types_count() -> None:
    with pytest.raises(AssertionError, match="int32"):
        assert_same_table(TABLE.set_column(0, "id", TABLE["id"].cast(pa.int32())), TABLE)


def test_a_failed_equality_of_rows_is_explained() -> None:
    met, expected = canonical_rows(changed(0, "price", 0.25)), canonical_rows(TABLE)
    assert explain_rows(met, expected) == [
        "rows differ",
        "rows: 1 missing, 1 that should not be there",
        "column price: met 0.25, expected 0.5",
        "in the row id=1, name='a', price=0.5",
    ]
    assert explain_rows(met, met) is None
    assert explain_rows(1, 2) is None


def test_rows_that_have_nothing_in_common() -> None:
    met, expected = canonical_rows(pa.table({"n": [1]})), canonical_rows(pa.table({"n": [2]}))
    assert first_difference(met, expected) == "rows: 1 missing, 1 that should not be there\nfirst that is missing: #0=2"
