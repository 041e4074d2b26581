"""Parses pyarrow expressions from their pickled form, the only access to their structure.

The form is a record batch of one row: constants are its columns, and the schema's metadata has the tree in prefix
order, with keys ``call``, ``field_ref``, ``nested_field_ref`` (the number of those that follow), ``literal``,
``options`` and ``end`` (Arrow's ``compute/expression.cc``, ``Serialize``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from lakeport.arrow.filters.conditions import RowTest
from lakeport.arrow.filters.pruning import EVERY_ROW, both, either, rows_needed

__all__ = ["Call", "Field", "Literal", "needed_by_arrow", "read_expression"]

_COMPARISONS = {
    "equal": "=",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}
_MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_LINE = re.compile(r"(call|field_ref|nested_field_ref|literal|options|end): '(.*)'")


@dataclass(frozen=True, slots=True)
class Field:
    """A column, or a field of structs.

    Attributes:
        name: The column's name.
        path: Names of fields, from the column's own fields inwards.
    """

    name: str
    path: tuple[str, ...] = ()

    def columns(self) -> tuple[str, ...]:
        """The column's name."""
        return (self.name,)


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    value: pa.Scalar

    def columns(self) -> tuple[str, ...]:
        """None."""
        return ()


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a pyarrow function.

    Attributes:
        function: Its name.
        inputs: Its arguments.
        options: Its options, a struct, or ``None``.
    """

    function: str
    inputs: tuple[Node, ...]
    options: pa.Scalar | None

    def columns(self) -> tuple[str, ...]:
        """The columns that it uses."""
        return tuple(name for node in self.inputs for name in node.columns())


Node = Field | Literal | Call


def read_expression(expression: pc.Expression, schema: pa.Schema) -> Node | None:
    """The tree of an expression on columns of a schema; ``None`` if any part of it is unknown."""
    if any(re.search(r"['\n\r\\]", name) for name in _names(schema)):
        return None  # such names are ambiguous in the tree's text
    try:
        [serialized] = expression.__reduce__()[1]
        table = pa.ipc.open_file(serialized).read_all()
        text = table.schema.to_string(truncate_metadata=False)  # the metadata as a dict would lose repeated keys
        lines = text.partition("-- schema metadata --\n")[2].splitlines()
        matches = [_LINE.fullmatch(line) for line in lines]
        if None in matches:
            return None
        tokens = iter([(match[1], match[2]) for match in matches if match is not None])
        found = _node(*next(tokens), tokens, table)
        return found if next(tokens, None) is None and set(found.columns()) <= set(schema.names) else None
    except (pa.ArrowException, LookupError, ValueError, TypeError, AttributeError, StopIteration):
        return None


def needed_by_arrow(node: Node, schema: pa.Schema) -> RowTest:
    """The rows for which an expression may be true; every row where it is not supported."""
    if not isinstance(node, Call):
        return EVERY_ROW
    function, inputs = node.function, node.inputs
    if function in ("and", "and_kleene"):
        return both(needed_by_arrow(inputs[0], schema), needed_by_arrow(inputs[1], schema))
    if function in ("or", "or_kleene"):
        return either(needed_by_arrow(inputs[0], schema), needed_by_arrow(inputs[1], schema))
    if function == "if_else" and isinstance(inputs[2], Literal) and not inputs[2].value.is_valid:
        return both(needed_by_arrow(inputs[0], schema), needed_by_arrow(inputs[1], schema))
    if function == "is_valid" and isinstance(inputs[0], Field):
        return rows_needed(schema, inputs[0].name, "is not null", path=inputs[0].path)
    if function == "is_in" and isinstance(inputs[0], Field) and node.options is not None:
        return rows_needed(schema, inputs[0].name, "in", node.options["value_set"].as_py(), path=inputs[0].path)
    if function in _COMPARISONS:
        return _comparison(_COMPARISONS[function], *inputs, schema=schema)
    return EVERY_ROW


def _comparison(operator: str, left: Node, right: Node, *, schema: pa.Schema) -> RowTest:
    if isinstance(left, Literal):
        left, operator, right = right, _MIRRORED[operator], left
    if not isinstance(left, Field) or not isinstance(right, Literal) or not right.value.is_valid:
        return EVERY_ROW
    value = right.value.as_py()
    if operator == "!=" and value != value:
        # Of Spark's comparison NaN equals itself; of Arrow's it differs from everything, itself included.
        return rows_needed(schema, left.name, "is not null", path=left.path)
    return rows_needed(schema, left.name, operator, value, path=left.path)


def _node(kind: str, text: str, tokens: Iterator[tuple[str, str]], table: pa.Table) -> Node:
    if kind == "field_ref":
        return Field(text)
    if kind == "nested_field_ref":
        parts = [next(tokens) for _ in range(int(text))]
        if not parts or any(inner != "field_ref" for inner, _ in parts):
            raise ValueError(f"{parts} in place of names")
        return Field(parts[0][1], tuple(name for _, name in parts[1:]))
    if kind == "literal":
        return Literal(table.column(int(text))[0])
    if kind != "call":
        raise ValueError(f"{kind} in place of an expression")
    inputs: list[Node] = []
    options = None
    for inner, value in tokens:
        if inner == "end":
            if value != text:
                raise ValueError(f"end of {value} in {text}")
            return Call(text, tuple(inputs), options)
        if inner == "options":
            options = table.column(int(value))[0]
        else:
            inputs.append(_node(inner, value, tokens, table))
    raise ValueError(f"no end of {text}")


def _names(fields: Iterable[pa.Field]) -> Iterator[str]:
    """Names of columns, and of what is in them."""
    for field in fields:
        yield field.name
        nested = field.type
        if pa.types.is_nested(nested):
            yield from _names(nested.field(number) for number in range(nested.num_fields))
