"""Row groups of base files that an OR over columns and conditions on fields of structs leave out."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import (
    Call,
    ColumnReference,
    ConnectorExpression,
    Constant,
    FieldDereference,
    Function,
    Reference,
    Value,
)
from connector_spi.testing.reference_queries import rows_that_fit_expression
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.writer import HudiWriter

_STRUCT = pa.struct([("b", pa.int64()), ("a", pa.int64()), ("in", pa.struct([("a", pa.string())]))])
_ROWS = 20
"""In row groups of five."""


@pytest.fixture
def catalog(tmp_path: Path) -> HudiCatalog:
    writer = HudiWriter(tmp_path / "table", 9).create()
    structs = [None if at % 5 == 1 else {"b": -at, "a": at, "in": {"a": f"k{at:02}"}} for at in range(_ROWS)]
    columns = {"id": pa.array(range(_ROWS), pa.int64()), "n": pa.array(range(_ROWS), pa.int64())}
    writer.insert(pa.table({**columns, "a": pa.array([7] * _ROWS, pa.int64()), "s": pa.array(structs, _STRUCT)}))
    made = make_catalog(tmp_path)
    made.register(tmp_path / "table")
    return made


_S = ColumnReference(ColumnHandle("s", _STRUCT))
_N = ColumnReference(ColumnHandle("n", pa.int64()))
_A = FieldDereference(_S, "a", pa.int64())
_INNER = FieldDereference(FieldDereference(_S, "in", _STRUCT.field("in").type), "a", pa.string())


def _call(function: Function, reference: Reference, *values: Value) -> Call:
    return Call(function, (reference, *(Constant(value, reference.type) for value in values)))


@pytest.mark.parametrize(
    ("condition", "groups"),
    [
        (Call(Function.OR, (_call(Function.EQUAL, _N, 3), _call(Function.GREATER, _N, 17))), [0, 3]),
        (Call(Function.OR, (_call(Function.EQUAL, _N, 3), _call(Function.EQUAL, _A, 7))), [0, 1]),
        (_call(Function.EQUAL, _A, 7), [1]),
        (_call(Function.LESS, _INNER, "k05"), [0]),
        (_call(Function.NOT_EQUAL, _A, 2), [0, 1, 2, 3]),
        (Call(Function.NOT, (_call(Function.GREATER_OR_EQUAL, _A, 15),)), [0, 1, 2]),
        (Call(Function.OR, (_call(Function.LESS, _N, 0), _call(Function.EQUAL, _INNER, "k99"))), []),
        (Call(Function.OR, (_call(Function.LESS, _N, 0), Call(Function.IS_NULL, (_A,)))), [0, 1, 2, 3]),
    ],
    ids=str,
)
def test_row_groups_without_a_row_that_fits_are_left_out(
    catalog: HudiCatalog, condition: ConnectorExpression, groups: list[int]
) -> None:
    met = catalog.read(columns=["id", "n", "s"], expressions=(condition,))
    assert sorted(met.column("id").to_pylist()) == [5 * group + row for group in groups for row in range(5)]
    everything = catalog.read(columns=["id", "n", "s"])
    assert rows_that_fit_expression(met, condition).equals(rows_that_fit_expression(everything, condition))
