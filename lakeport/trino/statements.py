"""Translates statements in Trino's SQL: queries part by part, other statements by their form.

Trino: https://trino.io/docs/current/sql.html
"""

from __future__ import annotations

import re

from connector_spi.errors import NotSupportedError
from connector_spi.names import quote_identifier
from lakeport.error_codes import UNSUPPORTED_TRINO_SQL
from lakeport.trino.approximation import APPROXIMATE_FUNCTIONS, approximating
from lakeport.trino.columns_of import ColumnsOf
from lakeport.trino.queries import translate_query

__all__ = ["translate_trino"]

_NAME = r'(?:"(?:[^"]|"")+"|`[^`]+`|\w+)'
_PATH = rf"{_NAME}(?:\.{_NAME})*"
_FLAGS = re.IGNORECASE | re.DOTALL
_EXPLAIN = re.compile(r"(?P<head>EXPLAIN\s*(?:ANALYZE\s+(?:VERBOSE\s+)?|\([^)]*\)\s*)?)(?P<query>.*)", _FLAGS)
_QUERY = re.compile(r"(?:--[^\n]*\n|/\*.*?\*/|\s)*(?:SELECT|WITH|VALUES|TABLE|\()", _FLAGS)
_SET_SESSION = re.compile(rf"SET\s+SESSION\s+(?P<catalog>{_NAME})\.(?P<name>\w+)\s*=\s*(?P<value>.+)", _FLAGS)
_RESET_SESSION = re.compile(rf"RESET\s+SESSION\s+(?P<catalog>{_NAME})\.(?P<name>\w+)", _FLAGS)
_SET_APPROXIMATE = re.compile(r"SET\s+SESSION\s+approximate_functions\s*=\s*(?P<value>true|false)", _FLAGS)
_RENAMED = (
    (re.compile(r"SHOW\s+SCHEMAS\s+(?:FROM|IN)\s+(?P<path>" + _PATH + r")(?P<rest>\s+LIKE\s+'[^'\\_%]*%?')?", _FLAGS),
     "SHOW SCHEMAS IN {path}{rest}"),
    (re.compile(r"SHOW\s+TABLES\s+(?:FROM|IN)\s+(?P<path>" + _PATH + r")(?P<rest>\s+LIKE\s+'[^'\\_%]*%?')?", _FLAGS),
     "SHOW TABLES IN {path}{rest}"),
    (re.compile(rf"SHOW\s+COLUMNS\s+(?:FROM|IN)\s+(?P<path>{_PATH})(?P<rest>)", _FLAGS), "DESCRIBE TABLE {path}{rest}"),
    (re.compile(rf"(?:DESCRIBE|DESC)\s+(?P<path>{_PATH})(?P<rest>)", _FLAGS), "DESCRIBE TABLE {path}{rest}"),
    (re.compile(rf"SHOW\s+CREATE\s+TABLE\s+(?P<path>{_PATH})(?P<rest>)", _FLAGS), "SHOW CREATE TABLE {path}{rest}"),
    (re.compile(rf"SHOW\s+STATS\s+FOR\s+(?P<path>{_PATH})(?P<rest>)", _FLAGS), "SHOW STATS FOR {path}{rest}"),
    (re.compile(rf"USE\s+(?P<path>{_PATH})(?P<rest>)", _FLAGS), "USE {path}{rest}"),
)  # fmt: skip
_UNCHANGED = re.compile(r"SHOW\s+(?:CATALOGS|SCHEMAS|TABLES)|CALL\s.*", _FLAGS)


def translate_trino(text: str, columns_of: ColumnsOf, approximate: bool = False) -> str:
    """A statement in Spark's SQL.

    Args:
        text: One statement in Trino's SQL.
        columns_of: Returns the types of a table's columns.
        approximate: Whether Spark's approximations, which return other numbers, may stand for Trino's.

    Raises:
        InvalidArgumentError: It is not a statement in Trino's SQL.
        NotSupportedError: It, or a part of it, may mean something else in Spark.
    """
    with approximating(approximate):
        return _translated(text.strip().rstrip(";").strip(), columns_of)


def _translated(stripped: str, columns_of: ColumnsOf) -> str:
    if _QUERY.match(stripped):
        return translate_query(stripped, columns_of)
    explain = _EXPLAIN.fullmatch(stripped)
    if explain is not None and _QUERY.match(explain.group("query")):
        return explain.group("head").rstrip() + " " + translate_query(explain.group("query"), columns_of)
    setting = _SET_APPROXIMATE.fullmatch(stripped)
    if setting is not None:
        return f"SET {APPROXIMATE_FUNCTIONS} = {setting.group('value').lower()}"
    setting = _SET_SESSION.fullmatch(stripped)
    if setting is not None:
        value = setting.group("value").strip()
        value = value[1:-1].replace("''", "'") if value.startswith("'") and value.endswith("'") else value
        return f"SET spark.lakeport.{_plain(setting.group('catalog'))}.{setting.group('name').lower()} = {value}"
    setting = _RESET_SESSION.fullmatch(stripped)
    if setting is not None:
        return f"RESET spark.lakeport.{_plain(setting.group('catalog'))}.{setting.group('name').lower()}"
    for pattern, form in _RENAMED:
        found = pattern.fullmatch(stripped)
        if found is not None:
            rest = (found.group("rest") or "").replace("%", "*")
            return form.format(path=_spark_path(found.group("path")), rest=rest)
    if _UNCHANGED.fullmatch(stripped) and '"' not in stripped:
        return stripped
    words = " ".join(stripped.split()[:3])
    raise NotSupportedError(
        f"the statement {words} ... is not translated from Trino's SQL: only queries, EXPLAIN, SHOW, DESCRIBE, USE, "
        "SET SESSION and CALL are; write it in Spark's SQL",
        UNSUPPORTED_TRINO_SQL,
    )


def _spark_path(path: str) -> str:
    return ".".join(quote_identifier(_plain(part)) for part in re.findall(_NAME, path))


def _plain(name: str) -> str:
    return name[1:-1].replace('""', '"') if name[0] in '"`' else name
