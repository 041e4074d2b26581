"""Skipping parts of files by an OR over columns and by fields of structs, against the rows that fit in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import orc

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import (
    Call,
    ColumnReference,
    ConnectorExpression,
    Constant,
    FieldDereference,
    Function,
    Reference,
)
from connector_spi.scan_counters import ScanCounts, counting
from connector_spi.testing.reference_queries import rows_that_fit_expression
from connector_spi.testing.strategies import expressions
from connectors.toolkit.orc.reader import orc_page_source
from connectors.toolkit.parquet.reader import parquet_page_source
from connectors.toolkit.read.file_read import FileRead
from connectors.toolkit.schema.type_adaptation import LOSSY
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.toolkit.reads import Reader, whole_file
from tests.sampling import examples

_ROWS = 12
_INNER = pa.struct([("b", pa.float64()), ("c", pa.string())])
_STRUCT = pa.struct([("a", pa.int64()), ("in", _INNER), ("list", pa.list_(pa.int32()))])
_SCHEMA = pa.schema([("at", pa.int64()), ("n", pa.int32()), ("s", _STRUCT)])


def _write_parquet(path: Path, data: pa.Table) -> None:
    pq.write_table(data, path, row_group_size=3, store_schema=False)


def _write_orc(path: Path, data: pa.Table) -> None:
    # Numbers are encoded at the end of a stripe only and count as nothing before; texts fill it.
    filler = pa.array([f"{row}" * 99 for row in range(data.num_rows)])
    orc.write_table(data.append_column("filler", filler), str(path), stripe_size=1, batch_size=3)


_FORMATS = pytest.mark.parametrize(
    ("write", "source"), [(_write_parquet, parquet_page_source), (_write_orc, orc_page_source)], ids=["parquet", "orc"]
)
_inner = st.none() | st.fixed_dictionaries(
    {
        "b": st.none() | st.sampled_from([0.0, -0.0, 1.5, float("nan"), float("inf")]),
        "c": st.none() | st.sampled_from(["", "a", "ab", "ä", "\U0001f600"]),
    }
)
_struct = st.none() | st.fixed_dictionaries(
    {
        "a": st.none() | st.integers(-3, 3),
        "in": _inner,
        "list": st.none() | st.lists(st.integers(0, 3), max_size=2),
    }
)


def _read(path: Path, source: Reader, columns: Sequence[ColumnHandle], *conditions: ConnectorExpression) -> pa.Table:
    with source(FileSystem(), whole_file(path, tuple(columns), conditions=conditions)) as pages:
        return pa.Table.from_batches(list(pages), pages.schema)


def _columns(schema: pa.Schema) -> tuple[ColumnHandle, ...]:
    return tuple(ColumnHandle(field.name, field.type) for field in schema)


@_FORMATS
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_row_that_fits_is_skipped(
    tmp_path: Path, write: Callable[[Path, pa.Table], None], source: Reader, data: st.DataObject
) -> None:
    structs = data.draw(st.lists(_struct, min_size=_ROWS, max_size=_ROWS))
    numbers = data.draw(st.lists(st.none() | st.integers(-3, 3), min_size=_ROWS, max_size=_ROWS))
    rows = pa.table([pa.array(range(_ROWS)), pa.array(numbers, pa.int32()), pa.array(structs, _STRUCT)], _SCHEMA)
    condition = data.draw(expressions(rows))
    path = tmp_path / "file"
    write(path, rows)
    found = _read(path, source, _columns(_SCHEMA), condition)
    expected = rows_that_fit_expression(rows, condition)
    assert [repr(row) for row in rows_that_fit_expression(found, condition).to_pylist()] == [
        repr(row) for row in expected.to_pylist()
    ]


_N = ColumnReference(ColumnHandle("n", pa.int32()))
_A = FieldDereference(ColumnReference(ColumnHandle("s", _STRUCT)), "a", pa.int64())
_C = FieldDereference(FieldDereference(ColumnReference(ColumnHandle("s", _STRUCT)), "in", _INNER), "c", pa.string())


def _compared(function: Function, reference: Reference, *values: object) -> Call:
    return Call(function, (reference, *(Constant(value, reference.type) for value in values)))  # type: ignore[arg-type]


def _ordered_rows() -> pa.Table:
    """Four groups of three rows with rising values; the struct is NULL in the first one."""
    structs = [
        None if at < 3 else {"a": at, "in": {"b": float(at), "c": f"k{at:02}"}, "list": []} for at in range(_ROWS)
    ]
    return pa.table([pa.array(range(_ROWS)), pa.array(range(_ROWS), pa.int32()), pa.array(structs, _STRUCT)], _SCHEMA)


@_FORMATS
@pytest.mark.parametrize(
    ("condition", "groups"),
    [
        (_compared(Function.EQUAL, _A, 4), [1]),
        (_compared(Function.GREATER, _A, 8), [3]),
        (_compared(Function.NOT_EQUAL, _A, 4), [1, 2, 3]),
        (_compared(Function.IN, _C, "k04", "k10"), [1, 3]),
        (Call(Function.OR, (_compared(Function.EQUAL, _A, 4), _compared(Function.EQUAL, _N, 0))), [0, 1]),
        (Call(Function.OR, (_compared(Function.LESS, _N, 0), _compared(Function.GREATER, _N, 99))), []),
        (
            Call(
                Function.NOT, (Call(Function.OR, (_compared(Function.LESS, _N, 9), _compared(Function.EQUAL, _A, 1))),)
            ),
            [3],
        ),
        (Call(Function.OR, (_compared(Function.STARTS_WITH, _C, "k1"), _compared(Function.EQUAL, _N, 0))), [0, 3]),
        (Call(Function.NOT, (_compared(Function.STARTS_WITH, _C, "k0"),)), [3]),
        # Not every writer counts the rows whose struct is NULL, so no NULLs of a field say nothing.
        (Call(Function.IS_NULL, (_A,)), [0, 1, 2, 3]),
        (Call(Function.NOT, (Call(Function.IS_NULL, (_A,)),)), [1, 2, 3]),
        (Call(Function.OR, (_compared(Function.EQUAL, _A, 4), _compared(Function.ENDS_WITH, _C, "0"))), [0, 1, 2, 3]),
    ],
    ids=str,
)
def test_parts_in_which_every_branch_is_false_are_skipped(
    tmp_path: Path,
    write: Callable[[Path, pa.Table], None],
    source: Reader,
    condition: ConnectorExpression,
    groups: list[int],
) -> None:
    path = tmp_path / "file"
    write(path, _ordered_rows())
    counts = ScanCounts()
    with counting(counts):
        found = _read(path, source, _columns(_SCHEMA), condition)
    assert found["at"].to_pylist() == [3 * group + row for group in groups for row in range(3)]
    parts = "row groups" if source is parquet_page_source else "stripes"
    assert counts.as_mapping()[f"{parts} skipped"] == 4 - len(groups)


@_FORMATS
def test_names_of_fields_are_found_in_any_case(
    tmp_path: Path, write: Callable[[Path, pa.Table], None], source: Reader
) -> None:
    rows = _ordered_rows()
    renamed = pa.struct([field.with_name(field.name.upper()) for field in _STRUCT])
    path = tmp_path / "file"
    structs = rows["s"].combine_chunks()
    written = pa.StructArray.from_arrays(structs.flatten(), fields=list(renamed), mask=structs.is_null())
    write(path, rows.set_column(2, "S", written))
    assert _read(path, source, _columns(_SCHEMA)[:2], _compared(Function.EQUAL, _A, 4)).num_rows == 3


@_FORMATS
@pytest.mark.parametrize(
    ("written", "groups"),
    [
        (pa.struct([("a", pa.int32())]), [1]),
        # Text and number are in other orders, and a field that is not there says nothing.
        (pa.struct([("a", pa.string())]), [0, 1, 2, 3]),
        (pa.struct([("other", pa.int64())]), [0, 1, 2, 3]),
        (pa.struct([("a", pa.list_(pa.int64()))]), [0, 1, 2, 3]),
    ],
    ids=str,
)
def test_fields_of_another_type_skip_only_what_keeps_its_order(
    tmp_path: Path,
    write: Callable[[Path, pa.Table], None],
    source: Reader,
    written: pa.DataType,
    groups: list[int],
) -> None:
    [field] = list(written)
    values = [pa.scalar(at).cast(pa.string()).as_py() if pa.types.is_string(field.type) else at for at in range(_ROWS)]
    lists = pa.types.is_list(field.type)
    structs = pa.array([{field.name: [value] if lists else value} for value in values], written)
    path = tmp_path / "file"
    write(path, pa.table({"at": pa.array(range(_ROWS)), "s": structs}))
    found = _read(path, source, _columns(_SCHEMA)[:1], _compared(Function.EQUAL, _A, 4))
    assert found["at"].to_pylist() == [3 * group + row for group in groups for row in range(3)]


def test_fields_found_by_position_skip_nothing(tmp_path: Path) -> None:
    # The first field of the file is the table's second one by its name.
    path = tmp_path / "file"
    _write_parquet(path, pa.table({"s": [{"a": at, "b": -at} for at in range(_ROWS)]}))
    struct = pa.struct([("b", pa.int64()), ("a", pa.int64())])
    column = ColumnHandle("s", struct)
    condition = _compared(Function.EQUAL, FieldDereference(ColumnReference(column), "b", pa.int64()), 4)
    asked = replace(whole_file(path, (column,), conditions=(condition,)), rules=replace(LOSSY, fields_by_position=True))
    with parquet_page_source(FileSystem(), asked) as pages:
        rows = pa.Table.from_batches(list(pages), pages.schema)
    assert rows_that_fit_expression(rows, condition).to_pylist() == [{"s": {"b": 4, "a": -4}}]


@pytest.mark.parametrize(("part", "rows"), [("x", 3), ("y", 12)])
def test_constants_of_a_file_decide_their_branch(tmp_path: Path, part: str, rows: int) -> None:
    path = tmp_path / "file"
    _write_parquet(path, _ordered_rows())
    key = ColumnReference(ColumnHandle("part", pa.string()))
    either = Call(Function.OR, (_compared(Function.EQUAL, key, "y"), _compared(Function.EQUAL, _A, 4)))
    read: FileRead = replace(whole_file(path, _columns(_SCHEMA), conditions=(either,)), constants={"part": part})
    with parquet_page_source(FileSystem(), read) as pages:
        assert sum(batch.num_rows for batch in pages) == rows


def test_a_condition_that_is_never_true_opens_no_file(tmp_path: Path) -> None:
    path = tmp_path / "missing"
    read = replace(whole_file(tmp_path, _columns(_SCHEMA), conditions=(_compared(Function.EQUAL, _A, None),)))
    with parquet_page_source(FileSystem(), replace(read, file=replace(read.file, path=str(path)))) as pages:
        assert list(pages) == []
