"""Statements that Spark refuses for catalogs such as ours, in words that name the catalog and the way out."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from catalog.metastore.wrappers.read_only import READ_ONLY_CATALOG
from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.names import parse_name, quote_identifier
from lakeport.sql.statement_patterns import BLANK, NAME, statement_pattern

__all__ = [
    "RefusedStatement",
    "read_only",
    "refused_statement",
    "rows_are_not_written",
    "unsupported_statement",
    "write_verb",
]

_NAME = f"(?P<name>{NAME})"
_WRITE_VERB = statement_pattern(r"(?P<verb>INSERT +OVERWRITE|INSERT|MERGE|UPDATE|DELETE)\b")
_SYNC = "sync_partition_metadata"
_OF_SCHEMAS = ("ANALYZE TABLES", "SHOW VIEWS")
_KINDS: tuple[tuple[str, str], ...] = (
    ("TRUNCATE TABLE", rf"TRUNCATE +TABLE +{_NAME}"),
    ("LOAD DATA", rf"LOAD +DATA\b.*?\bINTO +TABLE +{_NAME}"),
    ("MSCK REPAIR TABLE", rf"(?:MSCK +)?REPAIR +TABLE +{_NAME}"),
    ("RECOVER PARTITIONS", rf"ALTER +TABLE +{_NAME} +RECOVER +PARTITIONS"),
    ("ANALYZE TABLES", rf"ANALYZE +TABLES(?: +(?:IN|FROM) +{_NAME})?"),
    ("ANALYZE TABLE", rf"ANALYZE +TABLE +{_NAME}"),
    ("CREATE VIEW", rf"CREATE(?: +OR +REPLACE)? +VIEW +(?:IF +NOT +EXISTS +)?{_NAME}"),
    ("ALTER VIEW", rf"ALTER +VIEW +{_NAME}"),
    ("DROP VIEW", rf"DROP +VIEW +(?:IF +EXISTS +)?{_NAME}"),
    ("RENAME PARTITION", rf"ALTER +TABLE +{_NAME} +PARTITION\b.*?\) +RENAME"),
    ("SET SERDE", rf"ALTER +TABLE +{_NAME} +(?:PARTITION\b.*?\) +)?SET +SERDE(?:PROPERTIES)?\b"),
    ("CREATE INDEX", rf"CREATE +INDEX\b.*?\bON +(?:TABLE +)?{_NAME}"),
    ("SHOW CREATE TABLE AS SERDE", rf"SHOW +CREATE +TABLE +{_NAME} +AS +SERDE"),
    ("SHOW VIEWS", rf"SHOW +VIEWS(?: +(?:IN|FROM) +{_NAME})?"),
)
_PATTERNS = tuple((kind, statement_pattern(pattern)) for kind, pattern in _KINDS)


@dataclass(frozen=True, slots=True)
class RefusedStatement:
    """A statement that Spark refuses for catalogs of its second interface.

    Attributes:
        kind: Its first words, such as ``MSCK REPAIR TABLE``.
        name: The parts of the name that it is about, as written; empty where it has none.
    """

    kind: str
    name: tuple[str, ...]

    def within(self, known: Container[str], current: tuple[str, str]) -> RefusedStatement:
        """The same with its name in full: catalog and schema, and for one table also that.

        Args:
            known: The names of all catalogs.
            current: Catalog and schema of names that say none.
        """
        catalog, schema = current
        if self.kind not in _OF_SCHEMAS:
            return replace(self, name=(*(catalog, schema)[: max(0, 3 - len(self.name))], *self.name))
        name = self.name or (schema,)
        if len(name) == 1:
            name = (name[0], schema) if name[0] in known else (catalog, name[0])
        return replace(self, name=name)


def refused_statement(text: str) -> RefusedStatement | None:
    """What a text is of these statements; ``None`` where it is another one."""
    for kind, pattern in _PATTERNS:
        match = pattern.match(text)
        if match is not None:
            return RefusedStatement(kind, _parts(match.group("name") or ""))
    return None


def unsupported_statement(statement: RefusedStatement, procedures: Sequence[str]) -> NotSupportedError:
    """The error for a refused statement.

    Args:
        statement: The statement, with its name in full.
        procedures: The names of the procedures of its catalog.
    """
    catalog = statement.name[0]
    if statement.kind in ("TRUNCATE TABLE", "LOAD DATA"):
        return rows_are_not_written(catalog, statement.kind)
    return NotSupportedError(f"catalog '{catalog}' has no {statement.kind}: {_way_out(statement, procedures)}")


def rows_are_not_written(catalog: str, statement: str, *, adds: bool = False) -> NotSupportedError:
    """The error for a statement that would write rows.

    Args:
        catalog: The catalog.
        statement: The first words of the statement.
        adds: Whether rows can be added to tables of the catalog.
    """
    does = "only adds rows" if adds else "does not write rows"
    other = "; INSERT INTO adds rows" if adds else ""
    return NotSupportedError(
        f"catalog '{catalog}' {does}: {statement} is refused; write with the engine that owns the table{other}",
        READ_ONLY_CATALOG,
    )


def read_only(catalog: str, statement: str) -> NotSupportedError:
    """The error for a statement that would change definitions in a catalog that cannot change them."""
    return NotSupportedError(
        f"catalog '{catalog}' is read-only: {statement} is refused; write with the engine that owns the table",
        READ_ONLY_CATALOG,
    )


def write_verb(text: str) -> str | None:
    """The first words of a statement that writes rows; ``None`` where they do not say it."""
    match = _WRITE_VERB.match(text)
    return None if match is None else re.sub(rf"{BLANK}+", " ", match.group("verb").upper())


def _way_out(statement: RefusedStatement, procedures: Sequence[str]) -> str:
    name = ".".join(quote_identifier(part) for part in statement.name)
    match statement.kind:
        case "MSCK REPAIR TABLE" | "RECOVER PARTITIONS" if _SYNC in procedures:
            catalog, schema, table = statement.name[0], *(part.replace("'", "\\'") for part in statement.name[1:3])
            given = f"schema_name => '{schema}', table_name => '{table}', mode => 'FULL'"
            return f"CALL {quote_identifier(catalog)}.system.{_SYNC}({given}) does it"
        case "MSCK REPAIR TABLE" | "RECOVER PARTITIONS":
            return "it finds the partitions of its tables by itself; SHOW PARTITIONS lists them"
        case "ANALYZE TABLE":
            own = "session.sql and the shell compute statistics of Hive tables, of others the engine that owns them"
            return f"{own}; SHOW STATS FOR {name} shows those it has"
        case "ANALYZE TABLES":
            return "the engines that own the tables compute statistics; SHOW STATS FOR shows those of a table"
        case "RENAME PARTITION" | "SET SERDE" | "CREATE INDEX":
            return "use the engine that owns the table"
        case "SHOW CREATE TABLE AS SERDE":
            return f"SHOW CREATE TABLE {name} shows it in Spark's form"
        case "DROP VIEW":
            return f"DROP TABLE {name} drops a view, too"
        case "SHOW VIEWS":
            return f"SHOW TABLES IN {name} lists views, too"
    return "define views in the engine that owns them; CREATE TEMPORARY VIEW makes one for this session"


def _parts(name: str) -> tuple[str, ...]:
    try:
        return tuple(parse_name(re.sub(rf"{BLANK}*\.{BLANK}*", ".", name))) if name else ()
    except InvalidArgumentError:
        return ()
