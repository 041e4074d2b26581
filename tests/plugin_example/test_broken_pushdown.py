"""The conformance suite catches a connector that computes something else than it was asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import connector_spi as spi
from tests.plugin_example import sqlite_tables
from tests.plugin_example.sqlite_tables import SqliteMetadata, SqliteTable
from tests.plugin_example.test_sqlite_tables import TestSqliteConformance as Conformance
from tests.sampling import without_shrinking

Break = Callable[[pytest.MonkeyPatch], None]


class Suite(Conformance):
    """Not collected by itself: the test below runs single checks of it."""

    __test__ = False


def _operator(function: spi.Function, sql: str) -> Break:
    return lambda patch: patch.setitem(sqlite_tables.OPERATORS, function, sql)


def _boast(patch: pytest.MonkeyPatch) -> None:
    """Expressions that it cannot say are guaranteed, too."""
    taken = SqliteMetadata.apply_filter

    def apply_filter(
        self: SqliteMetadata, session: spi.ConnectorSession, table: SqliteTable, constraint: spi.Constraint
    ) -> spi.FilterApplication | None:
        found = taken(self, session, table, constraint)
        if found is None and table.order == () and constraint.expressions and not table.expressions:
            found = spi.FilterApplication(replace(table, expressions=constraint.expressions), spi.TupleDomain.all())
        return None if found is None else replace(found, applied=constraint.expressions)

    patch.setattr(SqliteMetadata, "apply_filter", apply_filter)


def _forget_nulls(patch: pytest.MonkeyPatch) -> None:
    written = sqlite_tables.select

    def select(table: SqliteTable, columns: tuple[spi.ColumnHandle, ...]) -> sqlite_tables.Sql:
        text, values = written(table, columns)
        return text.replace("NULLS FIRST", "").replace("NULLS LAST", ""), values

    patch.setattr(sqlite_tables, "select", select)


def _count_values(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sqlite_tables, "function_sql", lambda one: 'count("name")' if one.column is None else _function(one))


def _lose_null_groups(patch: pytest.MonkeyPatch) -> None:
    written = sqlite_tables.select

    def select(table: SqliteTable, columns: tuple[spi.ColumnHandle, ...]) -> sqlite_tables.Sql:
        text, values = written(table, columns)
        keys = table.aggregation.keys if table.aggregation is not None else ()
        having = "".join(f" HAVING {sqlite_tables.quoted(key.name)} IS NOT NULL" for key in keys[:1])
        return text + having, values

    patch.setattr(sqlite_tables, "select", select)


_function = sqlite_tables.function_sql
_EXPRESSIONS: Callable[[Suite], object] = lambda suite: (  # noqa: E731
    suite.test_an_expression_loses_no_row_and_is_exact_where_guaranteed(False)
)
_AGGREGATES: Callable[[Suite], object] = lambda suite: suite.test_aggregates_are_those_of_the_rows(False)  # noqa: E731
_FIRST: Callable[[Suite], object] = lambda suite: suite.test_the_first_rows_are_among_those_that_come(5)  # noqa: E731
CAUGHT = [
    # Hundreds of expressions are tried before one tells them apart.
    pytest.param(_operator(spi.Function.NULL_SAFE_EQUAL, "="), _EXPRESSIONS, marks=pytest.mark.slow),
    (_operator(spi.Function.NOT_EQUAL, "IS NOT"), _EXPRESSIONS),
    (_operator(spi.Function.LESS, "<="), _EXPRESSIONS),
    (_operator(spi.Function.OR, "AND"), _EXPRESSIONS),
    (_boast, _EXPRESSIONS),
    (_count_values, _AGGREGATES),
    (_lose_null_groups, _AGGREGATES),
    (_forget_nulls, _FIRST),
]


@pytest.mark.slow
@pytest.mark.parametrize(("broken", "check"), CAUGHT)
def test_a_broken_connector_fails(
    broken: Break, check: Callable[[Suite], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Some defects show in few of the random expressions; the search ends with the first that does.
    for fails, tries in ((False, 20), (True, 3000)):
        suite = Suite()
        suite.max_examples = tries  # type: ignore[misc]  # of this one suite
        suite.folder = tmp_path / str(fails)
        suite.folder.mkdir()
        suite.connector = suite.create_connector()
        if fails:
            broken(monkeypatch)
        try:
            with without_shrinking():
                check(suite)
        except Exception:
            assert fails, "the check fails without the defect"
        else:
            assert not fails, "the check passes in spite of the defect"
