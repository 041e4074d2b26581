"""Tables as queries name them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.optional.changes import ChangeRange
from lakeport.duckdb.query.changes import change_range_of, instant_of
from lakeport.duckdb.refusal import refused

__all__ = ["VIEW_OWNER", "NamedTable"]

VIEW_OWNER = "lakeport_view_owner"
"""What a table in the text of a view is marked by: whose rights count for it."""

_PARTS = ("this", "db", "catalog", "alias", "version", "joins")


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table in a query.

    Attributes:
        parts: Parts of its name, in lower case.
        version: An older state; ``None`` is the newest.
        changes: What changed in it is meant; ``None``: its rows.
        owner: Of the view around it, whose rights count; ``None`` where those of who asks do.
    """

    parts: tuple[str, ...]
    version: TableVersion | None = None
    changes: ChangeRange | None = None
    owner: str | None = None

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
        written, owner = table.args.get("version"), table.meta.get(VIEW_OWNER)
        parts = tuple(part.name.lower() for part in table.parts)
        if written is None:
            return cls(parts, owner=owner)
        value = written.expression
        changes = change_range_of(value.name) if isinstance(value, exp.Literal) else None
        return cls(parts, None if changes is not None else _version(written), changes, owner)

    @property
    def is_plain(self) -> bool:
        """Whether its newest rows are meant."""
        return self.version is None and self.changes is None


def _version(written: exp.Version) -> TableVersion:
    """What ``VERSION AS OF`` and ``TIMESTAMP AS OF`` say; times are in the session's zone, UTC."""
    value = written.expression
    if isinstance(value, exp.Cast) and written.name == "TIMESTAMP":
        value = value.this
    if not isinstance(value, exp.Literal) or written.args.get("kind") != "AS OF":
        raise refused(written, "a version that is not written out")
    if written.name != "TIMESTAMP":
        return TableVersion(VersionKind.VERSION, value.name)
    return TableVersion(VersionKind.TIMESTAMP, instant_of(value.name, "TIMESTAMP AS OF"))
