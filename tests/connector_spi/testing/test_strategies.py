"""Random conditions over tables whose columns may hold NULL alone."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.testing.strategies import expressions, predicates

_ONLY_NULL = pa.table({"id": pa.array([1, 2], pa.int64()), "n": pa.nulls(2, pa.int32()), "s": pa.nulls(2, pa.string())})


@given(st.data())
def test_columns_of_null_alone_have_conditions_and_domains(data: st.DataObject) -> None:
    for reference in ("n", "s"):
        table = _ONLY_NULL.select([reference])
        assert reference in str(data.draw(expressions(table)))
        assert data.draw(predicates(table)).domains is not None
    assert data.draw(predicates(_ONLY_NULL)).domains is not None
