from __future__ import annotations

import pyarrow as pa
import pytest

from connectors.hudi.log.row_columns import combined, field_values


@pytest.mark.parametrize("chunks", [[], [[1]], [[1], [None, 3]]])
def test_chunks_become_one_array(chunks: list[list[int | None]]) -> None:
    column = pa.chunked_array(chunks, pa.int64())
    assert combined(column) == pa.array(column.to_pylist(), pa.int64())
    assert combined(combined(column)) == combined(column)


def test_fields_may_be_nested_or_have_a_dot_in_their_names() -> None:
    rows = pa.table({"a": [{"b": {"c": 1}}, None], "a.b": [5, 6]})
    assert field_values(rows, "a.b") == pa.array([5, 6])
    assert field_values(rows, "a.b.c") == pa.array([1, None])
    assert field_values(rows, "x.b") is None
