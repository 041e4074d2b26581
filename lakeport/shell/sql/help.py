"""The syntax of common SQL statements, for ``\\h``."""

from __future__ import annotations

from connector_spi.errors import InvalidArgumentError
from connector_spi.properties import closest

__all__ = ["sql_help"]

_STATEMENTS = {
    "SELECT": """[WITH name AS (query), ...]
SELECT [DISTINCT] expression [AS name], ...
FROM table [VERSION AS OF v | TIMESTAMP AS OF t] [AS name]
  [[LEFT | RIGHT | FULL | SEMI | ANTI | CROSS] JOIN table ON condition]
[WHERE condition] [GROUP BY expression, ...] [HAVING condition]
[ORDER BY expression [DESC] [NULLS LAST], ...] [LIMIT n] [OFFSET n]""",
    "USE": "USE [catalog.]schema",
    "SHOW": """SHOW CATALOGS
SHOW SCHEMAS [IN catalog] [LIKE 'pattern']
SHOW TABLES [IN catalog.schema] [LIKE 'pattern']
SHOW COLUMNS IN table
SHOW PARTITIONS table
SHOW CREATE TABLE table
SHOW STATS FOR table
SHOW PROCEDURES IN catalog.system""",
    "DESCRIBE": "DESCRIBE [EXTENDED] table",
    "EXPLAIN": """EXPLAIN query
EXPLAIN ANALYZE [(FORMAT TEXT | JSON)] query
EXPLAIN (TYPE LOGICAL | DISTRIBUTED | VALIDATE | IO, FORMAT TEXT | JSON) query
EXPLAIN EXTENDED | FORMATTED | COST | CODEGEN query (Spark's own)""",
    "SET": "SET spark.lakeport.CATALOG.PROPERTY = value",
    "CALL": "CALL catalog.system.procedure(argument => value, ...)",
    "CHANGES": """SELECT * FROM table CHANGES FROM VERSION a TO VERSION b
(Spark 4.2 and later)""",
    "BEGIN": """BEGIN
  DECLARE name type [DEFAULT value];
  SET name = value;
  IF condition THEN statement; ... END IF;
  WHILE condition DO statement; ... END WHILE;
END;""",
    "CREATE SCHEMA": "CREATE SCHEMA [IF NOT EXISTS] catalog.schema [COMMENT 'text'] [LOCATION 'path']",
    "CREATE TABLE": """CREATE TABLE catalog.schema.table (column type [COMMENT 'text'], ...)
[USING format] [PARTITIONED BY (column, ...)] LOCATION 'path' [COMMENT 'text']""",
    "DROP TABLE": "DROP TABLE [IF EXISTS] table",
}


def sql_help(topic: str) -> str:
    """The syntax of a statement, or the list of statements with help.

    Raises:
        InvalidArgumentError: There is no help on it; the message names similar ones.
    """
    wanted = " ".join(topic.upper().split())
    if not wanted:
        return "\\h STATEMENT, one of: " + ", ".join(_STATEMENTS)
    known = {"DESC": "DESCRIBE", "WITH": "SELECT", "FROM": "SELECT"}.get(wanted, wanted)
    if known not in _STATEMENTS:
        raise InvalidArgumentError(
            f"there is no help on '{topic}'{closest(known, _STATEMENTS)}; there is on {', '.join(_STATEMENTS)}"
        )
    return _STATEMENTS[known]
