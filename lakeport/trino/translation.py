"""Translates views of Presto and Trino into Spark's SQL, if both surely mean the same.

sqlglot rewrites the query. The supported parts are listed here, since text that Spark also accepts can mean something
else there: casts of numbers to text or integers, divisions, patterns with a backslash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from connector_spi.errors import NotSupportedError
from connector_spi.optional.definitions import ViewDefinition
from lakeport.error_codes import UNSUPPORTED_VIEW

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

__all__ = ["to_spark"]

# Names of sqlglot's classes: relations and clauses, then expressions, then functions.
_RELATIONS = (
    "Alias CTE Column Distinct Except From Group Having Identifier Intersect Join Limit Offset Order Ordered Select "
    "Star Subquery Table TableAlias Union Where With"
)
_EXPRESSIONS = (
    "Add And Between Boolean Case DPipe DataType EQ Exists GT GTE If In Is LT LTE Literal Mod Mul NEQ Neg Not Null "
    "NullSafeEQ NullSafeNEQ Or Paren Sub Tuple Window WindowSpec"
)
_FUNCTIONS = (
    "Abs Avg Cast Coalesce Concat Count DenseRank Div Filter Like Lower Max Min Month Nullif Rank RowNumber Sum "
    "Upper Year"
)
_KNOWN = frozenset(" ".join((_RELATIONS, _EXPRESSIONS, _FUNCTIONS)).split())
_DATE_TYPES = ("DATE",)
_FLOAT_TYPES = ("DOUBLE",)


def to_spark(view: ViewDefinition, shown: str) -> str:
    """The text of a view of Presto or Trino in Spark's SQL.

    Args:
        view: The view.
        shown: Its text for messages.

    Raises:
        NotSupportedError: sqlglot is not installed, cannot parse it, or a part of it may mean something else in Spark.
    """
    try:
        import sqlglot
        from sqlglot.errors import SqlglotError

        from lakeport.trino.joins import check_joins
        from lakeport.trino.rules import UntranslatableError
    except ImportError as error:
        raise NotSupportedError(
            f"the view {view.name} is written in Trino's SQL, and reading it needs sqlglot: pip install "
            f"'lakeport[views]'; its text is: {shown}",
            UNSUPPORTED_VIEW,
        ) from error
    try:
        query = sqlglot.parse_one(view.text, dialect="trino")
        for part in _doubtful(query):
            raise _other_meaning(view, part, shown)
        check_joins(query)
        return str(query.sql(dialect="spark"))
    except UntranslatableError as error:
        raise _other_meaning(view, error.node, shown) from error
    except SqlglotError as error:
        reason = str(error).splitlines()[0]
        raise NotSupportedError(
            f"the view {view.name} cannot be read: its text is not valid ({reason}): {shown}", UNSUPPORTED_VIEW
        ) from error


def _other_meaning(view: ViewDefinition, part: Expr, shown: str) -> NotSupportedError:
    return NotSupportedError(
        f"the view {view.name} cannot be read: its part {part.sql(dialect='trino')} may mean something else in Spark; "
        f"its text is: {shown}",
        UNSUPPORTED_VIEW,
    )


def _doubtful(query: Expr) -> Iterator[Expr]:
    for node in query.walk():
        kind = type(node).__name__
        check = _CHECKS.get(kind)
        if kind not in _KNOWN or (check is not None and not check(node)):
            yield node


def _is_plain_cast(node: Expr) -> bool:
    """Whether it is a literal date or a cast to double; other casts round or format numbers differently."""
    target, operand = str(node.args["to"].this.name), node.this
    if node.args.get("format") is not None or node.args["to"].expressions:
        return False
    if target in _FLOAT_TYPES:
        return True
    return target in _DATE_TYPES and _is_text(operand)


def _is_float_division(node: Expr) -> bool:
    """Whether a side is a double: Trino's divisions of integers and decimals have other results."""
    return any(_is_double(side) for side in (node.this, node.args["expression"]))


def _is_double(node: Expr) -> bool:
    while type(node).__name__ in ("Paren", "Neg"):
        node = node.this
    return type(node).__name__ == "Cast" and str(node.args["to"].this.name) in _FLOAT_TYPES


def _is_plain_like(node: Expr) -> bool:
    """Whether a pattern has no backslash: it is always the escape character in Spark."""
    pattern = node.args["expression"]
    return _is_text(pattern) and "\\" not in str(pattern.this)


def _is_text(node: Expr) -> bool:
    return type(node).__name__ == "Literal" and bool(node.args.get("is_string"))


def _is_shown_average(node: Expr) -> bool:
    """Whether an average is a column of the view, which is cast: Spark's averages of decimals have more digits."""
    parent = node.parent
    while parent is not None and type(parent).__name__ in ("Alias", "Filter"):
        parent = parent.parent
    return parent is not None and type(parent).__name__ == "Select" and parent.parent is None


def _is_plain_table(node: Expr) -> bool:
    """Whether it is a plain name, without sample, version or function."""
    return all(not value or key in ("this", "db", "catalog", "alias", "joins") for key, value in node.args.items())


def _is_plain_group(node: Expr) -> bool:
    return all(not value or key == "expressions" for key, value in node.args.items())


def _is_plain_with(node: Expr) -> bool:
    return not node.args.get("recursive")


_CHECKS: dict[str, Callable[[Expr], bool]] = {
    "Avg": _is_shown_average,
    "Cast": _is_plain_cast,
    "Div": _is_float_division,
    "Group": _is_plain_group,
    "Like": _is_plain_like,
    "Table": _is_plain_table,
    "With": _is_plain_with,
}
