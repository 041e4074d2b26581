"""Names of catalogs, schemas, tables and columns: parsing and quoting.

Identifiers follow Spark's rules: a bare identifier is letters, digits and ``_``, not begun by a digit; anything else
stands between backticks, a backtick itself doubled. Double quotes are accepted on input too, as in Trino.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from connector_spi.errors import InvalidArgumentError
from connector_spi.serializable import Serializable

__all__ = ["CatalogSchemaTableName", "SchemaTableName", "SystemTableName", "parse_name", "quote_identifier"]

# As in Spark's QuotingUtils.needQuote: 1e5 or 1L would be read as a number.
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PART = re.compile(r"`((?:[^`]|``)+)`|\"((?:[^\"]|\"\")+)\"|([^`\".\s]+)")


def quote_identifier(name: str) -> str:
    """Writes ``name``, which is not empty, so that it can stand in SQL: bare where allowed, else between backticks."""
    if _BARE.fullmatch(name):
        return name
    return "`" + name.replace("`", "``") + "`"


def parse_name(text: str) -> tuple[str, ...]:
    """Splits a dotted name into its parts.

    Args:
        text: Such as ``hive.sales.orders`` or ``hive.sales.`orders$partitions```.

    Returns:
        The parts, unquoted, in order; at least one.

    Raises:
        InvalidArgumentError: A quote is not closed, a part is empty, or text follows a quoted part.
    """
    parts: list[str] = []
    position = 0
    while True:
        match = _PART.match(text, position)
        if match is None:
            break
        backtick, double, bare = match.groups()
        if backtick is not None:
            parts.append(backtick.replace("``", "`"))
        elif double is not None:
            parts.append(double.replace('""', '"'))
        else:
            parts.append(bare)
        position = match.end()
        if position == len(text):
            return tuple(parts)
        if text[position] != ".":
            break
        position += 1
    raise InvalidArgumentError(
        f"cannot read the name {text!r} at position {position}: expected identifiers joined by dots, "
        "with backticks around a part that holds other characters than letters, digits and '_'"
    )


@dataclass(frozen=True, slots=True)
class SchemaTableName(Serializable):
    """A table inside a catalog.

    Attributes:
        schema: Name of the schema (Hive: database), lower case.
        table: Name of the table, lower case.
    """

    schema: str
    table: str

    def __str__(self) -> str:
        return f"{quote_identifier(self.schema)}.{quote_identifier(self.table)}"


@dataclass(frozen=True, slots=True)
class CatalogSchemaTableName(Serializable):
    """A table by its full name."""

    catalog: str
    schema: str
    table: str

    @property
    def schema_table(self) -> SchemaTableName:
        """The name inside of the catalog."""
        return SchemaTableName(self.schema, self.table)

    def __str__(self) -> str:
        return ".".join(quote_identifier(part) for part in (self.catalog, self.schema, self.table))


@dataclass(frozen=True, slots=True)
class SystemTableName(Serializable):
    """A table about a table, written ``orders$partitions``.

    Attributes:
        base: The table it is about.
        kind: What follows the last ``$``.
    """

    base: SchemaTableName
    kind: str

    @classmethod
    def parse(cls, name: SchemaTableName) -> SystemTableName | None:
        """Reads ``schema.table$kind``; ``None`` where the table's name has no ``$`` with text on both sides."""
        table, dollar, kind = name.table.rpartition("$")
        if not dollar or not table or not kind:
            return None
        return cls(SchemaTableName(name.schema, table), kind)
