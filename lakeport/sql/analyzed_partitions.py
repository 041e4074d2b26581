"""``PARTITION (ds='x', hour)`` of ``ANALYZE TABLE``: the partitions whose keys have these values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

import pyarrow as pa

from connector_spi.errors import InvalidArgumentError
from connector_spi.names import CatalogSchemaTableName, parse_name, quote_identifier
from connector_spi.partition_names import DEFAULT_PARTITION
from connector_spi.predicate import Domain, TupleDomain, Value
from connector_spi.schema import ColumnMetadata
from lakeport.sql.statement_patterns import PART, statement_pattern

__all__ = ["AnalyzedPartitions"]

_VALUE = r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|[-+.\w]+"
_KEY = statement_pattern(rf"(?P<name>{PART})(?: *= *(?:DATE *)?(?P<value>{_VALUE}))? *")
_ESCAPED = re.compile(r"\\(.)|''", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AnalyzedPartitions:
    """Values of partition keys; a key that has none here may have any.

    Attributes:
        keys: Columns and values; ``None`` is NULL.
    """

    keys: tuple[tuple[ColumnMetadata, Value | None], ...] = ()

    @classmethod
    def of(cls, text: str, name: CatalogSchemaTableName, keys: list[ColumnMetadata]) -> AnalyzedPartitions:
        """Reads what stands between the brackets.

        Args:
            text: As written.
            name: The table.
            keys: Its partition keys.

        Raises:
            InvalidArgumentError: It is something else, names other columns, or a value is none of its key's type.
        """
        known = {key.name.lower(): key for key in keys}
        found: dict[str, tuple[ColumnMetadata, Value | None]] = {}
        rest, seen = f",{text}", set()
        while rest:
            match = _KEY.match(rest, 1)
            if match is None or rest[0] != ",":
                raise InvalidArgumentError(
                    f"ANALYZE TABLE {name} PARTITION ({text:.100}): expected partition keys, with a value or without"
                )
            [key] = parse_name(match["name"])
            if key.lower() not in known or key.lower() in seen:
                expected = ", ".join(known) or "a table with partitions"
                raise InvalidArgumentError(
                    f"ANALYZE TABLE {name} PARTITION ({text:.100}): '{key}' is no partition key, or twice there; "
                    f"expected {expected}"
                )
            seen.add(key.lower())
            if match["value"] is not None:
                column = known[key.lower()]
                found[key.lower()] = (column, _value(match["value"], column, name))
            rest = rest[match.end() :]
        return cls(tuple(found.values()))

    @property
    def domain(self) -> TupleDomain[str]:
        """The values, by the names of the keys."""
        return TupleDomain.with_column_domains(
            {
                column.name: Domain.only_null(column.type) if value is None else Domain.single_value(column.type, value)
                for column, value in self.keys
            }
        )

    @property
    def condition(self) -> str:
        """The same as a condition in SQL; empty where any will do."""
        parts = []
        for column, value in self.keys:
            name = quote_identifier(column.name)
            parts.append(f"{name} IS NULL" if value is None else f"{name} = {_literal(value)}")
        return " AND ".join(parts)


def _literal(value: Value) -> str:
    """A value in SQL, of its own type: engines do not cast alike."""
    if isinstance(value, (bool, int)):
        return str(value).lower()
    text = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"DATE '{text}'" if isinstance(value, date) else f"'{text}'"


def _value(text: str, key: ColumnMetadata, name: CatalogSchemaTableName) -> Value | None:
    if text.upper() == "NULL":
        return None
    plain = _ESCAPED.sub(lambda match: match[1] or "'", text[1:-1]) if text[0] in "'\"" else text
    if plain == DEFAULT_PARTITION:
        return None
    try:
        found: Value = pa.scalar(plain, pa.string()).cast(key.type).as_py()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InvalidArgumentError(
            f"ANALYZE TABLE {name}: partition key '{key.name}' is {key.type}; expected a value of it, met {text:.100}"
        ) from error
    return found
