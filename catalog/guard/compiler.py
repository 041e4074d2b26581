"""From Trino's SQL of a row filter or a column mask to an expression that tasks evaluate. Driver side.

What is not surely understood is refused, and so is every read of the table: an expression that means something else
would show what it should hide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from catalog.guard.expressions import ColumnValue, ConstantValue, Expression, FunctionCall
from catalog.guard.functions import Functions, Node
from catalog.guard.operands import Operands
from catalog.guard.value_types import (
    UnclearError,
    alike,
    as_type,
    chosen,
    comparable,
    day_of,
    literal,
)
from connector_spi.errors import ErrorCode, ErrorType, NotSupportedError
from connector_spi.schema import ColumnMetadata

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

__all__ = ["ACCESS_CONTROL_EXPRESSION", "compile_filter", "compile_mask"]

ACCESS_CONTROL_EXPRESSION = ErrorCode("ACCESS_CONTROL_EXPRESSION", ErrorType.USER_ERROR)
"""A row filter or a column mask cannot be enforced here. Change it in the rules of the access control."""

_TEXT, _LONG, _BOOLEAN, _NULL = pa.string(), pa.int64(), pa.bool_(), pa.null()
_COMPARISONS = {"EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_CASTS = {"VARCHAR": _TEXT, "BIGINT": _LONG, "INT": pa.int32(), "DOUBLE": pa.float64(), "DATE": pa.date32()}


def compile_filter(text: str, columns: Sequence[ColumnMetadata], user: str) -> Expression:
    """A condition over columns; rows where it is unknown do not meet it.

    Args:
        text: Trino's SQL.
        columns: Of the table, hidden ones included.
        user: What ``current_user`` means.

    Raises:
        NotSupportedError: It is not understood, or is no condition.
    """
    found = as_type(_compiled(text, columns, user, "row filter"), _BOOLEAN)
    if found is None:
        raise _refusal("row filter", text, "expected a condition")
    return found


def compile_mask(text: str, column: ColumnMetadata, columns: Sequence[ColumnMetadata], user: str) -> Expression:
    """What is shown in place of a column's values, of the column's type.

    Args:
        text: Trino's SQL.
        column: The column.
        columns: Of the table, hidden ones included.
        user: What ``current_user`` means.

    Raises:
        NotSupportedError: It is not understood, or is of another type.
    """
    found = _compiled(text, columns, user, f"mask of column '{column.name}'")
    made = as_type(found, column.type)
    if made is None:
        raise _refusal(
            f"mask of column '{column.name}'", text, f"it is {found.type}, expected the column's type {column.type}"
        )
    return made


def _compiled(text: str, columns: Sequence[ColumnMetadata], user: str, what: str) -> Expression:
    try:
        import sqlglot
        from sqlglot.errors import SqlglotError
    except ImportError as error:
        raise _refusal(what, text, "sqlglot is not installed: pip install 'lakeport[sql]'") from error
    try:
        node = sqlglot.parse_one(text, dialect="trino")
    except SqlglotError as error:
        raise _refusal(what, text, "it is no SQL") from error
    try:
        return _Compiler({column.name.lower(): column for column in columns}, user).compile(node)
    except UnclearError as error:
        raise _refusal(what, text, str(error)) from error


def _refusal(what: str, text: str, why: str) -> NotSupportedError:
    return NotSupportedError(
        f"the {what} in the access control cannot be enforced: {text!r:.200}: {why}; change the rules",
        ACCESS_CONTROL_EXPRESSION,
    )


class _Compiler:
    """Compiles a tree of sqlglot."""

    def __init__(self, columns: Mapping[str, ColumnMetadata], user: str) -> None:
        self._columns = columns
        self._user = user
        self._operands = Operands(self.compile)
        self._nodes: dict[str, Node] = {
            "Paren": (("this",), lambda node: self.compile(node.this)),
            "Column": (("this",), self._column),
            "Literal": (("this", "is_string"), literal),
            "Neg": (("this",), self._negative),
            "Boolean": (("this",), lambda node: ConstantValue(bool(node.this), _BOOLEAN)),
            "Null": ((), lambda node: ConstantValue(None, _NULL)),
            "CurrentUser": ((), lambda node: ConstantValue(self._user, _TEXT)),
            "And": (("this", "expression"), partial(self._junction, "and")),
            "Or": (("this", "expression"), partial(self._junction, "or")),
            "Not": (("this",), lambda node: FunctionCall("not", (self._operands.condition(node.this),), _BOOLEAN)),
            "Is": (("this", "expression"), self._is),
            "In": (("this", "expressions"), self._in),
            "Between": (("this", "low", "high"), self._between),
            "Like": (("this", "expression", "negate"), self._like),
            "If": (("this", "true", "false"), self._if),
            "Case": (("this", "ifs", "default"), self._case),
            "Coalesce": (("this", "expressions"), self._coalesce),
            "Nullif": (("this", "expression"), self._null_if),
            "Cast": (("this", "to"), self._cast),
            **{
                name: (("this", "expression"), partial(self._comparison, operator))
                for name, operator in _COMPARISONS.items()
            },
            **Functions(self._operands).nodes,
        }

    def compile(self, node: Expr) -> Expression:
        """The expression of a node."""
        arguments, made = self._nodes.get(type(node).__name__, ((), None))
        if made is None or any(
            value not in (None, False, []) and key not in arguments for key, value in node.args.items()
        ):
            raise UnclearError(f"{node.sql('trino')!r:.80} is not understood")
        return made(node)

    def _column(self, node: Expr) -> Expression:
        column = self._columns.get(node.name.lower())
        if column is None:
            raise UnclearError(f"the table has no column '{node.name}'")
        if pa.types.is_nested(column.type):
            raise UnclearError(f"column '{column.name}' is {column.type}, and nested columns are not understood")
        if (column.declared_type or "").lower().startswith("char"):
            raise UnclearError(f"column '{column.name}' is {column.declared_type}, whose blanks do not count")
        return ColumnValue(column.name, column.type)

    def _negative(self, node: Expr) -> Expression:
        found = self.compile(node.this)
        if not isinstance(found, ConstantValue) or not isinstance(found.value, int | float | Decimal):
            raise UnclearError(f"{node.sql('trino')!r:.80} is not understood")
        return ConstantValue(-found.value, found.type)

    def _junction(self, operator: str, node: Expr) -> Expression:
        return FunctionCall(
            operator, (self._operands.condition(node.this), self._operands.condition(node.expression)), _BOOLEAN
        )

    def _comparison(self, operator: str, node: Expr) -> Expression:
        return self._compared(operator, self.compile(node.this), self.compile(node.expression))

    def _compared(self, operator: str, left: Expression, right: Expression) -> Expression:
        one, other = comparable(left, right)
        return FunctionCall(operator, (one, other), _BOOLEAN)

    def _is(self, node: Expr) -> Expression:
        if type(node.expression).__name__ != "Null":
            raise UnclearError(f"{node.sql('trino')!r:.80} is not understood")
        return FunctionCall("is null", (self.compile(node.this),), _BOOLEAN)

    def _in(self, node: Expr) -> Expression:
        if not node.expressions:
            raise UnclearError("subqueries are not understood")
        value = self.compile(node.this)
        return FunctionCall(
            "or", tuple(self._compared("=", value, self.compile(one)) for one in node.expressions), _BOOLEAN
        )

    def _between(self, node: Expr) -> Expression:
        value = self.compile(node.this)
        bounds = (
            self._compared(">=", value, self.compile(node.args["low"])),
            self._compared("<=", value, self.compile(node.args["high"])),
        )
        return FunctionCall("and", bounds, _BOOLEAN)

    def _like(self, node: Expr) -> Expression:
        pattern = self._operands.constant(node.expression, str)
        assert isinstance(pattern, ConstantValue)
        if "\\" in str(pattern.value):
            raise UnclearError("a pattern with a backslash is not understood")
        found = FunctionCall("like", (self._operands.text(node.this), pattern), _BOOLEAN)
        return FunctionCall("not", (found,), _BOOLEAN) if node.args.get("negate") else found

    def _if(self, node: Expr) -> Expression:
        otherwise = node.args.get("false")
        return chosen(
            [(self._operands.condition(node.this), self.compile(node.args["true"]))],
            ConstantValue(None, _NULL) if otherwise is None else self.compile(otherwise),
        )

    def _case(self, node: Expr) -> Expression:
        value = None if node.this is None else self.compile(node.this)
        cases = []
        for one in node.args["ifs"]:
            asked = (
                self._operands.condition(one.this)
                if value is None
                else self._compared("=", value, self.compile(one.this))
            )
            cases.append((asked, self.compile(one.args["true"])))
        default = node.args.get("default")
        return chosen(cases, ConstantValue(None, _NULL) if default is None else self.compile(default))

    def _coalesce(self, node: Expr) -> Expression:
        values = alike([self.compile(one) for one in (node.this, *node.expressions)])
        return FunctionCall("coalesce", tuple(values), values[0].type)

    def _null_if(self, node: Expr) -> Expression:
        value, other = comparable(self.compile(node.this), self.compile(node.expression))
        return FunctionCall("nullif", (value, other), value.type)

    def _cast(self, node: Expr) -> Expression:
        value, target = self.compile(node.this), _CASTS.get(node.args["to"].this.name)
        if target is None or node.args["to"].expressions:
            raise UnclearError(f"{node.sql('trino')!r:.80} is not understood")
        if isinstance(value, ConstantValue) and target == pa.date32() and isinstance(value.value, str):
            return ConstantValue(day_of(value.value), target)
        made = as_type(value, target)
        kind = value.type
        if made is None and target == _TEXT and (pa.types.is_integer(kind) or pa.types.is_date(kind)):
            return FunctionCall("cast", (value,), _TEXT)
        if made is None:
            raise UnclearError(f"a cast of {kind} to {target} is not understood")
        return made
