"""Answers in Hive's form, for clients that know no other: PyHive's dialect of SQLAlchemy, and so Superset."""

from __future__ import annotations

import re
from collections.abc import Sequence

from py4j.java_gateway import JavaObject

from catalog.metastore.types import hive_type_text
from catalog.registry import CatalogRegistry
from catalog.resolver import ResolvedTable
from connector_spi.errors import ConnectorError, InvalidArgumentError, SchemaNotFoundError, TableNotFoundError
from connector_spi.names import CatalogSchemaTableName, parse_name, quote_identifier
from connector_spi.schema import TableMetadata
from lakeport.planning.redirection import resolve
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.statements import new_statement
from lakeport.sql.statement_patterns import NAME, statement_pattern
from lakeport.transactions.statement import statement_scope

__all__ = ["HIVE_ANSWERS", "HiveAnswers"]

HIVE_ANSWERS = "spark.sql.lakeport.hiveAnswers"
"""The setting of a session whose client wants them."""
_SHOW = statement_pattern(
    rf"SHOW +(?P<kind>TABLES|VIEWS)(?: +(?:IN|FROM) +(?P<name>{NAME}))?"
    r"(?: +(?:LIKE +)?'(?P<pattern>[^'\\]*)')? *;? *\Z"
)
_DESCRIBE = statement_pattern(rf"DESC(?:RIBE)? +(?P<name>{NAME}) *;? *\Z")


class HiveAnswers:
    """Rewords statements whose answers in Spark have another form than in Hive.

    Args:
        jvm: The JVM.
        registry: The catalogs; statements about others stay as they are.
    """

    def __init__(self, jvm: Jvm, registry: CatalogRegistry) -> None:
        self._jvm = jvm
        self._registry = registry

    def reworded(self, session: JavaObject, words: str) -> str:
        """What Spark runs in the place of a statement; others, and those of other clients, as they are."""
        shown, described = _SHOW.match(words), _DESCRIBE.match(words)
        if shown is None and described is None:
            return words
        if str(session.sessionState().conf().getConfString(HIVE_ANSWERS, "false")).lower() != "true":
            return words
        manager = session.sessionState().catalogManager()
        current = str(manager.currentCatalog().name()), ".".join(self._jvm.texts(manager.currentNamespace()))
        name = _name(shown or described)
        if shown is not None:
            return self._listing(shown, name, current) or words
        return self._description(session, words, name, current)

    def _listing(self, shown: re.Match[str], name: tuple[str, ...], current: tuple[str, str]) -> str | None:
        """A column of names, as Hive lists them; Spark has the schemas before them, and no views of our catalogs."""
        catalog, *below = (*current[: 2 - len(name)], *name)
        if len(below) != 1 or catalog not in self._registry.names():
            return None
        schema = below[0]
        text = (
            f"SELECT table_name AS tab_name FROM {quote_identifier(catalog)}.information_schema.tables "
            f"WHERE table_schema = {_literal(schema.lower())}"
        )
        if shown["kind"].upper() == "VIEWS":
            text += " AND table_type = 'VIEW'"
        if shown["pattern"] is not None:
            text += f" AND table_name RLIKE {_literal(_expression(shown['pattern']))}"
        return text

    def _description(self, session: JavaObject, words: str, name: tuple[str, ...], current: tuple[str, str]) -> str:
        """Columns with Hive's types: PyHive knows no ``timestamp_ntz``.

        Of a table that is missing a row that says so, by which PyHive knows it; Spark's error is none that it knows.
        """
        catalog, *below = (*current[: 3 - len(name)], *name)
        if len(below) != 2 or catalog not in self._registry.names():
            return words
        schema, table = below
        with statement_scope(new_statement(self._jvm, self._registry, session=session)) as statement:
            full = CatalogSchemaTableName(catalog, schema.lower(), table.lower())
            try:
                _, found = resolve(statement.access(catalog), full, None)
                if isinstance(found, ResolvedTable):
                    words = _rows(_described(found.table))
            except (TableNotFoundError, SchemaNotFoundError):
                words = _rows([(f"Table {'.'.join(name)} does not exist", "", "")])
            except ConnectorError:
                pass  # the statement itself says it, or Hive has no type of a column
            statement.commit()
        return words


def _name(match: re.Match[str] | None) -> tuple[str, ...]:
    """The parts of the name in a statement; none where it has none."""
    text = None if match is None else match["name"]
    try:
        return () if text is None else parse_name(text)
    except InvalidArgumentError:
        return ("",) * 4  # one with blanks around its dots: no name of ours, for PyHive writes none


def _described(table: TableMetadata) -> list[tuple[str, str, str | None]]:
    """The rows of ``DESCRIBE``, as Hive and Spark have them.

    Raises:
        NotSupportedError: Hive has no type of a column.
    """
    columns = {one.name: one for one in table.visible_columns()}
    rows = {name: (name, one.declared_type or hive_type_text(one.type), one.comment) for name, one in columns.items()}
    keys = [rows[name] for name in table.partitioned_by if name in rows]
    heads = [("# Partition Information", "", ""), ("# col_name", "data_type", "comment")]
    return [*rows.values(), *(heads if keys else []), *keys]


def _rows(rows: Sequence[tuple[str, str, str | None]]) -> str:
    values = (f"({', '.join('NULL' if one is None else _literal(one) for one in row)})" for row in rows)
    # The types are those of strings also where each comment is NULL.
    typed = "col_name, data_type, CAST(comment AS STRING) AS comment"
    return f"SELECT {typed} FROM VALUES {', '.join(values)} AS described(col_name, data_type, comment)"


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _expression(pattern: str) -> str:
    """The regular expression of a pattern, in which ``*`` is any text and ``|`` parts alternatives."""
    parts = (".*".join(re.escape(one) for one in part.strip().lower().split("*")) for part in pattern.split("|"))
    return f"^(?:{'|'.join(parts)})$"
