"""Spark's V2 predicates as domains, and as conditions that tasks check row by row.

Only what is surely the same here and in Spark becomes one or the other; the rest stays with Spark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import (
    Call,
    ConnectorExpression,
    Domain,
    FieldDereference,
    Function,
    Reference,
    TupleDomain,
)
from lakeport.spark.bridge.plan_words.nodes import FieldNode, LiteralNode, PlanNode, PredicateNode, PredicateWords
from lakeport.spark.bridge.types import spark_type_json
from lakeport.spark.scan.date_parts import date_part_domain
from lakeport.spark.scan.expressions import column_call, operand_call, reference
from lakeport.spark.scan.predicate_values import NO_LITERAL, column_domain, python_literal, row_predicate
from lakeport.spark.tasks.row_predicate import FieldTest, Junction, Negation, RowPredicate, Truth

__all__ = ["Translated", "translate"]

_RANGES = ("=", "<", "<=", ">", ">=", "IN")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Translated:
    """A predicate as a domain.

    Attributes:
        domain: Contains every row for which the predicate is true.
        exact: It contains no other rows.
        text: The predicate in SQL.
        rows: The predicate as a task checks it, exactly as Spark would; ``None`` where only Spark can.
        looks_into_structs: It has conditions on fields: Spark has to ask for these fields, too.
        kept_from_files: It may touch a column by which Spark's own readers must not skip parts of files. Statistics of
            floating-point columns leave NaN out, Spark's greatest value: rows go missing. Times without a zone are
            asked of the readers as times with one, so that values and columns would not be of one type.
        expression: The predicate as connectors get it; ``None`` where it cannot be said.
    """

    domain: TupleDomain[ColumnHandle]
    exact: bool
    text: str
    rows: RowPredicate | None
    kept_from_files: bool
    expression: ConnectorExpression | None = None
    looks_into_structs: bool = False


def translate(predicate: PredicateWords, columns: Mapping[str, ColumnHandle]) -> Translated:
    """Says a V2 predicate as a domain.

    Args:
        predicate: The predicate.
        columns: The table's columns by name; names are matched as they are.
    """
    if predicate.node is None:
        return Translated(TupleDomain.all(), False, predicate.text, None, kept_from_files=True)
    translator = _Translator(columns)
    found = translator.predicate(predicate.node, negated=False)
    return Translated(
        domain=found.domain,
        exact=found.exact,
        text=predicate.text,
        rows=found.rows,
        kept_from_files=translator.kept_from_files,
        expression=found.expression,
        looks_into_structs=translator.looks_into_structs,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """Domain and exactness are of the predicate or, where that was asked, of its negation; the rest never of that."""

    domain: TupleDomain[ColumnHandle]
    exact: bool
    rows: RowPredicate | None
    expression: ConnectorExpression | None = None


class _Translator:
    def __init__(self, columns: Mapping[str, ColumnHandle]) -> None:
        self._columns = columns
        self.kept_from_files = False
        self.looks_into_structs = False

    def predicate(self, node: PlanNode, negated: bool) -> _Found:
        """The domain of the rows for which ``node`` is true, or false when ``negated``."""
        if not isinstance(node, PredicateNode):
            return _Found(TupleDomain.all(), False, None)
        name, children = node.name, node.children
        if name == "NOT":
            found = self.predicate(children[0], not negated)
            expression = None if found.expression is None else Call(Function.NOT, (found.expression,))
            return replace(found, rows=None if found.rows is None else Negation(found.rows), expression=expression)
        if name in ("AND", "OR"):
            return self._combine(name, children, negated)
        if name in ("ALWAYS_TRUE", "ALWAYS_FALSE"):
            holds = name == "ALWAYS_TRUE"
            return _Found(TupleDomain.all() if holds != negated else TupleDomain.none(), True, Truth(holds))
        return self._leaf(name, children, negated)

    def _combine(self, name: str, children: Sequence[PlanNode], negated: bool) -> _Found:
        left = self.predicate(children[0], negated)
        right = self.predicate(children[1], negated)
        both = None if left.rows is None or right.rows is None else (left.rows, right.rows)
        rows = None if both is None else Junction(name == "AND", both)
        expression = None
        if left.expression is not None and right.expression is not None:
            expression = Call(Function[name], (left.expression, right.expression))
        exact = left.exact and right.exact
        if (name == "AND") != negated:
            return _Found(left.domain.intersect(right.domain), exact, rows, expression)
        # A union of domains over several columns says less than the OR does.
        one_column = len({*(left.domain.domains or ()), *(right.domain.domains or ())}) <= 1
        return _Found(left.domain.union(right.domain), exact and one_column, rows, expression)

    def _leaf(self, name: str, children: Sequence[PlanNode], negated: bool) -> _Found:
        if name in _MIRRORED and self._reference(children[0]) is None and len(children) == 2:
            name, children = _MIRRORED[name], children[::-1]
        elif name in ("=", "<=>", "<>") and self._reference(children[0]) is None:
            children = children[::-1]
        column = self._column(children[0]) if children else None
        if column is None:
            return self._other_leaf(name, children, negated)
        self.kept_from_files |= _has_other_bounds(column.type)
        values = [self._literal(argument, column.type) for argument in children[1:]]
        if any(value is NO_LITERAL for value in values):
            return _Found(TupleDomain.all(), False, None, self._expression(name, children))
        rows = row_predicate(name, column, values)
        expression = column_call(name, column, values)
        domain, exact = column_domain(name, column.type, values)
        if domain is None or (negated and not exact):
            return _Found(TupleDomain.all(), False, rows, expression)
        if negated:
            # A comparison is neither true nor false for NULL; only these three always have an answer.
            domain = domain.complement()
            if name not in ("IS_NULL", "IS_NOT_NULL", "<=>"):
                domain = domain.intersect(Domain.not_null(column.type))
        return _Found(TupleDomain.with_column_domains({column: domain}), exact, rows, expression)

    def _other_leaf(self, name: str, children: Sequence[PlanNode], negated: bool) -> _Found:
        """A condition on a field of structs, or something else than one column and values."""
        part = date_part_domain(name, children, self._columns) if not negated else None
        if part is not None:
            self.kept_from_files = True
            return _Found(TupleDomain.with_column_domains({part[0]: part[1]}), False, None)
        is_for_files = False
        expression = self._expression(name, children)
        rows = None
        if children and expression is not None:
            field, *others = (self._reference(child) for child in children)
            if isinstance(field, FieldDereference) and not any(others):
                self.looks_into_structs = True
                values = [self._literal(child, field.type) for child in children[1:]]
                inner = row_predicate(name, ColumnHandle(FieldTest.NAME, field.type), values)
                rows = None if inner is None else FieldTest(field.column.name, field.path, inner)
                # Not every writer counts the rows whose struct is NULL among the NULLs of its fields.
                is_known = (name in _RANGES and None not in values) or (name == "IS_NOT_NULL" and not negated)
                is_for_files = rows is not None and is_known and not _has_other_bounds(field.type)
        self.kept_from_files |= not is_for_files
        return _Found(TupleDomain.all(), False, rows, expression)

    def _expression(self, name: str, children: Sequence[PlanNode]) -> ConnectorExpression | None:
        """Of fields of structs, and of two columns."""
        found = [self._reference(child) for child in children]
        types = [one.type for one in found if one is not None]
        if not types:
            return None
        values = [
            None if one is not None else self._literal(c, types[0]) for c, one in zip(children, found, strict=True)
        ]
        return None if any(value is NO_LITERAL for value in values) else operand_call(name, found, values)

    def _reference(self, node: PlanNode) -> Reference | None:
        if not isinstance(node, FieldNode):
            return None
        first, *fields = node.parts
        column = self._columns.get(first)
        return None if column is None else reference(column, fields)

    def _column(self, node: PlanNode) -> ColumnHandle | None:
        if not isinstance(node, FieldNode) or len(node.parts) != 1:
            return None
        column = self._columns.get(node.parts[0])
        # Nested values have no domains here.
        return None if column is None or pa.types.is_nested(column.type) else column

    def _literal(self, node: PlanNode, data_type: pa.DataType) -> object:
        if not isinstance(node, LiteralNode) or node.type_json != spark_type_json(data_type, ""):
            return NO_LITERAL
        return None if node.value is None else python_literal(node.value, data_type)


def _has_other_bounds(data_type: pa.DataType) -> bool:
    """Whether Spark's own readers must not skip parts of files by columns of a type."""
    return bool(pa.types.is_floating(data_type) or data_type == pa.timestamp("us"))
