"""Rows of ``DatabaseMetaData``, by the columns that JDBC gives them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from connector_spi.schema import ColumnMetadata
from lakeport.server.jdbc.column_types import jdbc_type
from lakeport.server.jdbc.content import CatalogContent, FoundTable, Matches
from lakeport.type_names import type_name

__all__ = ["Row", "column_rows", "matching", "schema_rows", "table_rows"]

Row = list[str | int | None]
_NULLABLE = 1


def matching(pattern: str | None) -> Matches:
    r"""Tells whether a name matches a pattern of JDBC: ``%``, ``_``, and ``\`` before what is meant as it is.

    Args:
        pattern: ``None`` and the empty text are all names, and so are ``*``, ``.*`` and ``.+``, which tools of Hive
            and Impala send. Case does not matter.
    """
    if pattern in (None, "", "%", "*", ".*", ".+"):
        return lambda name: True
    text = re.sub(r"\\(.)|(%)|(_)|(.)", _part, str(pattern), flags=re.DOTALL)
    compiled = re.compile(text, re.IGNORECASE | re.DOTALL)
    return lambda name: compiled.fullmatch(name) is not None


def schema_rows(contents: Mapping[str, CatalogContent], schema: str | None) -> Iterator[Row]:
    """The rows of ``getSchemas``."""
    for catalog, name in _schemas(contents, schema):
        yield [name, catalog]


def table_rows(
    contents: Mapping[str, CatalogContent], schema: str | None, table: str | None, kinds: Sequence[str] | None
) -> Iterator[Row]:
    """The rows of ``getTables``.

    Args:
        contents: Of the catalogs that are asked about.
        schema: A pattern.
        table: A pattern.
        kinds: ``TABLE``, ``VIEW``; ``None`` or empty is all.
    """
    wanted = {kind.upper() for kind in kinds or ()}
    for catalog, found in _tables(contents, schema, lambda content, name: content.tables(name, matching(table))):
        kind = "VIEW" if found.is_view else "TABLE"
        if not wanted or kind in wanted:
            yield [catalog, found.name.schema, found.name.table, kind, found.comment, None, None, None, None, None]


def column_rows(
    contents: Mapping[str, CatalogContent], schema: str | None, table: str | None, column: str | None
) -> Iterator[Row]:
    """The rows of ``getColumns``; arguments are patterns as of ``table_rows``."""
    matches = matching(column)
    for catalog, found in _tables(contents, schema, lambda content, name: content.described(name, matching(table))):
        for position, one in enumerate(found.columns, 1):
            if matches(one.name):
                yield [catalog, found.name.schema, found.name.table, *_column(one, position)]


def _column(column: ColumnMetadata, position: int) -> Row:
    found, name = jdbc_type(column), type_name(column)
    # Names of fields keep their case.
    shown = name if "<" in name else name.upper()
    # COLUMN_NAME, DATA_TYPE, TYPE_NAME, COLUMN_SIZE, BUFFER_LENGTH, DECIMAL_DIGITS, NUM_PREC_RADIX
    row: Row = [column.name, found.code, shown, found.size, None, found.digits, found.radix]
    # NULLABLE, REMARKS, COLUMN_DEF, SQL_DATA_TYPE, SQL_DATETIME_SUB, CHAR_OCTET_LENGTH, ORDINAL_POSITION, IS_NULLABLE
    row += [int(column.nullable) * _NULLABLE, column.comment or "", None, None, None, None, position]
    row.append("YES" if column.nullable else "NO")
    # SCOPE_CATALOG, SCOPE_SCHEMA, SCOPE_TABLE, SOURCE_DATA_TYPE, IS_AUTO_INCREMENT
    return [*row, None, None, None, None, "NO"]


def _schemas(contents: Mapping[str, CatalogContent], pattern: str | None) -> Iterator[tuple[str, str]]:
    matches = matching(pattern)
    for catalog, content in contents.items():
        for name in sorted(content.schemas()):
            if matches(name):
                yield catalog, name


def _tables(
    contents: Mapping[str, CatalogContent],
    schema: str | None,
    found: Callable[[CatalogContent, str], Iterator[FoundTable]],
) -> Iterator[tuple[str, FoundTable]]:
    for catalog, name in _schemas(contents, schema):
        for one in found(contents[catalog], name):
            yield catalog, one


def _part(match: re.Match[str]) -> str:
    escaped, many, one, plain = match.groups()
    if many:
        return ".*"
    return "." if one else re.escape(escaped or plain)
