"""Nested values that ORC files hold as they were given, whatever of them is NULL."""

from __future__ import annotations

import io

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import orc

from connectors.hive.write.sink.nested_nulls import with_null_fields
from connectors.hive.write.sink.orc_output import OrcOutput, OrcWriter

_TYPES = st.recursive(
    st.sampled_from([pa.int32(), pa.string()]),
    lambda inner: st.one_of(
        st.builds(pa.list_, inner),
        st.builds(lambda value: pa.map_(pa.string(), value), inner),
        st.builds(lambda some: pa.struct([(f"f{i}", one) for i, one in enumerate(some)]), st.lists(inner, min_size=1)),
    ),
    max_leaves=4,
)


def _values(data_type: pa.DataType) -> st.SearchStrategy[object]:
    if pa.types.is_struct(data_type):
        value: st.SearchStrategy[object] = st.fixed_dictionaries({one.name: _values(one.type) for one in data_type})
    elif pa.types.is_map(data_type):
        entries = st.dictionaries(st.sampled_from(["a", "b"]), _values(data_type.item_type))
        value = entries.map(lambda one: list(one.items()))
    elif pa.types.is_list(data_type):
        value = st.lists(_values(data_type.value_type), max_size=3)
    else:
        value = st.sampled_from([1, 2] if pa.types.is_integer(data_type) else ["", "x"])
    return st.none() | value


@given(st.data(), _TYPES)
def test_values_below_structs_come_back(data: st.DataObject, data_type: pa.DataType) -> None:
    drawn = data.draw(st.lists(_values(data_type), min_size=1, max_size=20))
    array = pa.array(drawn, data_type).slice(data.draw(st.integers(0, len(drawn) - 1)))
    rows = pa.StructArray.from_arrays([array], names=["v"])
    safe = with_null_fields(rows)
    safe.validate(full=True)
    file = io.BytesIO()
    orc.write_table(pa.table({"row": safe}), file)
    met = orc.ORCFile(io.BytesIO(file.getvalue())).read().column("row").to_pylist()
    assert met == safe.to_pylist() == rows.to_pylist()


@given(st.data(), _TYPES)
def test_a_part_of_rows_comes_back(data: st.DataObject, data_type: pa.DataType) -> None:
    """The rows of one partition are a part of those of all."""
    drawn = data.draw(st.lists(_values(data_type), min_size=1, max_size=20))
    start = data.draw(st.integers(0, len(drawn) - 1))
    part = with_null_fields(pa.array(drawn, data_type)).slice(start, data.draw(st.integers(1, len(drawn) - start)))
    for rows in (pa.table({"v": part}), pa.table({"row": pa.StructArray.from_arrays([part], names=["v"])})):
        sink = pa.BufferOutputStream()
        writer = OrcWriter(OrcOutput(sink))
        writer.write(rows)
        writer.close()
        assert orc.ORCFile(pa.BufferReader(sink.getvalue())).read().to_pylist() == rows.to_pylist()


def test_a_null_struct_moves_no_value() -> None:
    """As Arrow's writer leaves it to itself, the row behind is 0."""
    array = pa.array([None, {"x": 1}, {"x": 4}], pa.struct([("x", pa.int64())]))
    rows = pa.StructArray.from_arrays([array], names=["v"])
    file = io.BytesIO()
    orc.write_table(pa.table({"row": with_null_fields(rows)}), file)
    met = orc.ORCFile(io.BytesIO(file.getvalue())).read().column("row").to_pylist()
    assert met == [{"v": None}, {"v": {"x": 1}}, {"v": {"x": 4}}]
