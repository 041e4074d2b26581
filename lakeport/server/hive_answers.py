"""Answers in Hive's form, for clients that know no other: PyHive's dialect of SQLAlchemy, and so Superset."""

from __future__ import annotations

import re

from py4j.java_gateway import JavaObject

from catalog.registry import CatalogRegistry
from connector_spi.errors import ConnectorError, InvalidArgumentError, SchemaNotFoundError, TableNotFoundError
from connector_spi.names import CatalogSchemaTableName, parse_name, quote_identifier
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
        """A row that says that a table is missing, by which PyHive knows it; Spark's error is none that it knows."""
        catalog, *below = (*current[: 3 - len(name)], *name)
        if len(below) != 2 or catalog not in self._registry.names():
            return words
        schema, table = below
        with statement_scope(new_statement(self._jvm, self._registry, session=session)) as statement:
            try:
                resolve(statement.access(catalog), CatalogSchemaTableName(catalog, schema.lower(), table.lower()), None)
            except (TableNotFoundError, SchemaNotFoundError):
                missing = _literal(f"Table {'.'.join(name)} does not exist")
                words = f"SELECT {missing} AS col_name, '' AS data_type, '' AS comment"
            except ConnectorError:
                pass  # the statement itself says it
            statement.commit()
        return words


def _name(match: re.Match[str] | None) -> tuple[str, ...]:
    """The parts of the name in a statement; none where it has none."""
    text = None if match is None else match["name"]
    try:
        return () if text is None else parse_name(text)
    except InvalidArgumentError:
        return ("",) * 4  # one with blanks around its dots: no name of ours, for PyHive writes none


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _expression(pattern: str) -> str:
    """The regular expression of a pattern, in which ``*`` is any text and ``|`` parts alternatives."""
    parts = (".*".join(re.escape(one) for one in part.strip().lower().split("*")) for part in pattern.split("|"))
    return f"^(?:{'|'.join(parts)})$"
