"""Filters of ``session.arrow``: pyarrow's DNF lists and SQL, as a domain to push down and as a mask to apply.

The answers are those of SQL's WHERE in Spark: a comparison with NULL is never true, NaN equals itself and is above all
numbers. (pyarrow's own ``filters`` let NULL pass ``not in``.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeGuard, cast

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.predicate import TupleDomain
from lakeport.arrow.filters.conditions import ColumnTest, Junction, RowTest, column_value, plain_column
from lakeport.error_codes import LIBRARY_NOT_INSTALLED

__all__ = ["Condition", "RowFilter", "Where", "copied", "parse_condition", "parse_where"]

Condition: TypeAlias = tuple[str, str] | tuple[str, str, object]
"""``("a", ">", 5)``, ``("a", "in", [1, 2])``, ``("a", "is null")``."""

Where: TypeAlias = str | pc.Expression | Sequence[Condition | Sequence[Condition]]
"""SQL, such as ``"a > 5 AND b IN (1, 2)"``; an expression of pyarrow; or conditions joined by AND, or lists of such
joined by OR."""

_NULL_TESTS = ("is null", "is not null")
_LISTS = ("in", "not in")
_COMPARISONS = {"=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


class RowFilter(Protocol):
    """A filter whose columns are known to be there.

    Attributes:
        columns: The columns that it looks at, each once, in order.
    """

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def needed(self) -> RowTest:
        """What every row that passes fits, as connectors may be told; other rows may fit too."""

    def domain(self) -> TupleDomain[str]:
        """What every row that passes fits; other rows may fit too."""

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that pass, of a batch that has at least the filter's columns."""


@dataclass(frozen=True, slots=True)
class _TestedRows:
    """The rows for which a condition is true."""

    test: RowTest

    @property
    def needed(self) -> RowTest:
        return self.test

    @property
    def columns(self) -> tuple[str, ...]:
        return self.test.columns

    def domain(self) -> TupleDomain[str]:
        return self.test.domain()

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.filter(self.test.mask({name: plain_column(batch.column(name)) for name in self.columns}))


def copied(where: Where) -> Where:
    """The same filter, to be read many times: no one else changes it, and values that come once only are kept."""
    return cast(Where, _copied(where))


def parse_where(where: Where, find: Callable[[str], tuple[str, pa.DataType]]) -> RowFilter | None:
    """Reads a filter.

    Args:
        where: See ``Where``, but no expression of pyarrow; an empty list filters nothing.
        find: From a column as the user wrote it to its name and type.

    Raises:
        InvalidArgumentError: A condition that is not understood, or a value that is not of its column's type.
        NotSupportedError: It is SQL, and sqlglot is not installed.
        ColumnNotFoundError: Whatever ``find`` raises.
    """
    if isinstance(where, str):
        return _TestedRows(_sql_test(where, find))
    given = _items(where)
    if not given:
        return None
    if any(isinstance(item, str) for item in given):
        raise _malformed(where)  # a condition alone
    alternatives = given if all(_is_conjunction(item) for item in given) else [given]
    tests = [
        Junction(True, tuple(parse_condition(condition, find) for condition in _conditions(item)))
        for item in alternatives
    ]
    return _TestedRows(Junction(False, tuple(tests)))


def parse_condition(condition: object, find: Callable[[str], tuple[str, pa.DataType]]) -> ColumnTest:
    """Reads one condition, such as ``("a", ">", 5)``.

    Args:
        condition: See ``Condition``.
        find: From a column as the user wrote it to its name and type.

    Raises:
        InvalidArgumentError: It is not understood, or a value is not of the column's type.
        ColumnNotFoundError: Whatever ``find`` raises.
    """
    if not isinstance(condition, Sequence) or isinstance(condition, str) or len(condition) not in (2, 3):
        raise _malformed(condition)
    written, spelled, *rest = condition
    if not isinstance(written, str) or not isinstance(spelled, str):
        raise _malformed(condition)
    operator = " ".join(spelled.lower().split())
    column, data_type = find(written)
    if operator in _NULL_TESTS and rest in ([], [None]):
        return ColumnTest(column, operator, data_type, ())
    if operator in _LISTS and len(rest) == 1 and _is_list(rest[0]):
        values = tuple(column_value(column, data_type, value) for value in rest[0])
        return ColumnTest(column, operator, data_type, values)
    if operator in _COMPARISONS and len(rest) == 1:
        value = column_value(column, data_type, rest[0])
        return ColumnTest(column, _COMPARISONS[operator], data_type, (value,))
    raise _malformed(condition)


def _sql_test(text: str, find: Callable[[str], tuple[str, pa.DataType]]) -> RowTest:
    try:
        from lakeport.arrow.filters.sql_filter import parse_sql_filter  # an optional extra, and slow to import
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] != "sqlglot":
            raise
        raise NotSupportedError(
            "a filter in SQL needs sqlglot: pip install 'lakeport[sql]', or write conditions, such as [('a', '>', 5)]",
            LIBRARY_NOT_INSTALLED,
        ) from error
    return parse_sql_filter(text, find)


def _copied(given: object) -> object:
    if isinstance(given, str) or not isinstance(given, Sequence):
        return given
    if len(given) == 3 and isinstance(given[0], str):
        return (given[0], given[1], tuple(given[2]) if _is_list(given[2]) else given[2])
    return tuple(_copied(item) for item in given)


def _is_list(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _is_conjunction(item: object) -> bool:
    return isinstance(item, Sequence) and not isinstance(item, str) and not any(isinstance(p, str) for p in item[:1])


def _conditions(item: object) -> Sequence[object]:
    conditions = _items(item)
    if not conditions:
        raise _malformed(item)
    return conditions


def _items(given: object) -> Sequence[object]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise _malformed(given)
    return given


def _malformed(met: object) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"cannot read the filter {met!r:.200}: expected [(column, operator, value), ...] or lists of such lists, "
        f"with an operator of {', '.join(dict.fromkeys((*_COMPARISONS, *_LISTS, *_NULL_TESTS)))}; "
        "or SQL, such as 'a > 5 AND b IS NULL'; or an expression of pyarrow"
    )
