"""Tables as queries name them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlglot import exp

from connector_spi.errors import InvalidArgumentError
from connector_spi.metadata import TableVersion, VersionKind
from lakeport.duckdb.refusal import refused

__all__ = ["NamedTable"]

_PARTS = ("this", "db", "catalog", "alias", "version", "joins")


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table in a query.

    Attributes:
        parts: Parts of its name, in lower case.
        version: An older state; ``None`` is the newest.
    """

    parts: tuple[str, ...]
    version: TableVersion | None = None

    @classmethod
    def of(cls, table: exp.Table) -> NamedTable:
        """The table of a part of a query.

        Raises:
            NotSupportedError: It is something else than a table.
            InvalidArgumentError: A time that is none.
        """
        if not isinstance(table.this, exp.Identifier):
            raise refused(table, "a function in place of a table")
        left = {key for key, value in table.args.items() if value} - {
            "this",
            "db",
            "catalog",
            "alias",
            "version",
            "joins",
        }
        if left:
            raise refused(table, f"{', '.join(sorted(left))} of a table")
        written = table.args.get("version")
        return cls(tuple(part.name.lower() for part in table.parts), None if written is None else _version(written))


def _version(written: exp.Version) -> TableVersion:
    """What ``VERSION AS OF`` and ``TIMESTAMP AS OF`` say; times are in the session's zone, UTC."""
    value = written.expression
    if isinstance(value, exp.Cast) and written.name == "TIMESTAMP":
        value = value.this
    if not isinstance(value, exp.Literal) or written.args.get("kind") != "AS OF":
        raise refused(written, "a version that is not written out")
    if written.name != "TIMESTAMP":
        return TableVersion(VersionKind.VERSION, value.name)
    try:
        time = datetime.fromisoformat(value.name)
    except ValueError as error:
        raise InvalidArgumentError(
            f"TIMESTAMP AS OF '{value.name}' is no time; expected one such as '2024-01-31 12:00:00'"
        ) from error
    return TableVersion(VersionKind.TIMESTAMP, time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC))
