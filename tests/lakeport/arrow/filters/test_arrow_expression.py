"""What is read out of pyarrow's expressions; pruning by it keeps every row that they let pass."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakeport.arrow.filters.arrow_expression import Call, Field, needed_by_arrow, read_expression
from lakeport.arrow.filters.pruning import EVERY_ROW, rows_needed
from tests.lakeport.frames.samples import ROWS

LEAVES = st.one_of(
    st.builds(
        lambda column, compare, value: getattr(pc.field(column), compare)(pc.scalar(value)),
        st.sampled_from(["i", "f"]),
        st.sampled_from(["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]),
        st.sampled_from([0, 1, 1.5, float("nan"), -0.0]),
    ),
    st.builds(lambda values: pc.field("i").isin(values), st.lists(st.sampled_from([0, 1, 2]), min_size=1)),
    st.sampled_from([pc.field("s").is_valid(), pc.field("f").is_null(nan_is_null=True), pc.field("s") > "a"]),
)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
        inner.map(lambda e: ~e),
    ),
    max_leaves=5,
)


@given(EXPRESSIONS)
@example(pc.field("f") != float("nan"))
def test_no_row_that_passes_is_pruned(expression: pc.Expression) -> None:
    tree = read_expression(expression, ROWS.schema)
    assert tree is not None
    needed = needed_by_arrow(tree, ROWS.schema).domain()
    for row in pads.dataset(ROWS).to_table(filter=expression).to_pylist():
        assert needed.domains is not None
        for column, domain in needed.domains.items():
            assert domain.includes_value(row[column]), (str(expression), row)


def test_columns_are_told() -> None:
    tree = read_expression((pc.field("i") + pc.field("n") > 3) & pc.field("s").is_valid(), ROWS.schema)
    assert isinstance(tree, Call)
    assert set(tree.columns()) == {"i", "n", "s"}


@pytest.mark.parametrize("name", ["it's", "two\nlines", "back\\slash"])
def test_names_that_could_be_mistaken_are_not_read(name: str) -> None:
    schema = pa.schema([(name, pa.int64())])
    assert read_expression(pc.field(name) == 1, schema) is None


def test_fields_of_structs_are_read_by_name() -> None:
    schema = pa.schema([("a", pa.struct([("b", pa.int64())])), ("b", pa.string())])
    tree = read_expression(pc.field("a", "b") == 1, schema)
    assert isinstance(tree, Call)
    assert tree.inputs[0] == Field("a", ("b",))
    assert tree.columns() == ("a",)


def test_fields_with_names_that_could_be_mistaken_are_not_read() -> None:
    schema = pa.schema([("a", pa.list_(pa.struct([("it's", pa.int64())]))), ("b", pa.int64())])
    assert read_expression(pc.field("b") == 1, schema) is None


def test_a_value_of_another_type_prunes_nothing() -> None:
    assert rows_needed(ROWS.schema, "i", "=", "one") == EVERY_ROW
    assert rows_needed(ROWS.schema, "nowhere", "=", 1) == EVERY_ROW
    assert rows_needed(ROWS.schema, "i", "in", [1, None]) == EVERY_ROW
