"""What is asked of a table when it is read with no Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeAlias, TypedDict, cast

from connector_spi.errors import InvalidArgumentError
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.optional.changes import ChangeRange
from connector_spi.properties import closest
from lakeport.arrow.filters.conditions import RowTest
from lakeport.arrow.filters.pruning import EVERY_ROW
from lakeport.arrow.filters.where import Where, copied

__all__ = ["Exclusive", "ReadSettings", "ScanRequest", "Version", "change_range", "scan_request", "table_version"]

Version: TypeAlias = int | str | datetime
"""A version of a table, or a time: whole numbers and texts are versions."""


@dataclass(frozen=True, slots=True)
class Exclusive:
    """A bound of a range of changes that is not in the range itself.

    Attributes:
        version: What the bound would be without it.
    """

    version: Version


class ReadSettings(TypedDict, total=False):
    """How ``Session.arrow`` and ``Session.scan`` read a table, each by its name.

    Attributes:
        version: An older state: what ``VERSION AS OF`` takes, or an aware ``datetime``; ``None`` is the newest.
        options: What ``spark.read.option(...)`` takes for such a table.
        threads: How many splits are read at a time; ``None`` is one for each core that the process may use, and up to
            16 where small files are waited for. They read ahead, at most 16 MiB for each core.
        ordered: Whether rows come in the order of the splits, which is the same each time, as they do by default; else
            as they are read.
    """

    version: Version | None
    options: Mapping[str, str] | None
    threads: int | None
    ordered: bool


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """What to read of a table.

    Attributes:
        name: Catalog, schema and table, joined by dots.
        columns: What to read, in order; ``None`` is every column that is not hidden. Of no columns, batches have their
            number of rows alone.
        filters: Rows to read have to pass them all.
        limit: Most rows to give, after the filters; ``None`` is all.
        version: An older state; ``None`` is the newest.
        changes: What changed in the table is read, of no version; ``None``: its rows.
        options: Options of the connector, in any case.
        needed: By names of columns as the table has them. Rows outside of it are not needed, but may come: whoever
            asks filters them again.
        threads: How many splits are read at a time; ``None`` is one for each core.
        ordered: Whether rows come in the order of the splits.
        owner: Of the view that the table is read through, whose rights count; ``None`` reads as who asks.

    Raises:
        InvalidArgumentError: A limit below 0, fewer than one thread, or an option that is no text.
    """

    name: str
    columns: tuple[str, ...] | None = None
    filters: tuple[Where, ...] = ()
    limit: int | None = None
    version: TableVersion | None = None
    changes: ChangeRange | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    needed: RowTest = EVERY_ROW
    threads: int | None = None
    ordered: bool = True
    owner: str | None = None

    def __post_init__(self) -> None:
        if not _is_count(self.limit, 0):
            raise InvalidArgumentError(f"the limit is {self.limit!r}; expected 0 or more rows, or None")
        if not _is_count(self.threads, 1):
            raise InvalidArgumentError(
                f"threads is {self.threads!r}; expected 1 or more, or None for one for each core"
            )
        for name, text in self.options.items():
            if not isinstance(text, str):
                raise InvalidArgumentError(f"option '{name}' is {text!r}; expected a text, such as '{text}'")

    def with_columns(self, columns: Sequence[str] | None) -> ScanRequest:
        """The same, of these columns; ``None`` leaves it as it is.

        Raises:
            InvalidArgumentError: A text in place of a list, or a list of other things than names, or of nothing.
        """
        if columns is None:
            return self
        if isinstance(columns, str):
            raise InvalidArgumentError(
                f"columns is the text '{columns}'; expected a list of names, such as ['{columns}']"
            )
        for column in cast(Sequence[object], columns):
            if not isinstance(column, str):
                raise InvalidArgumentError(f"{column!r:.80} is no column; expected names, such as 'id'")
        if not columns:
            raise InvalidArgumentError("columns names no column; expected at least one, or None for all")
        return replace(self, columns=tuple(columns))

    def with_filter(self, where: Where | None) -> ScanRequest:
        """The same, with one filter more; ``None`` leaves it as it is.

        Raises:
            InvalidArgumentError: There is a limit, which counts rows after the filters.
        """
        if where is None:
            return self
        if self.limit is not None:
            raise InvalidArgumentError(f"a filter after the limit of {self.limit} rows; put the filter first")
        return replace(self, filters=(*self.filters, copied(where)))

    def with_limit(self, limit: int | None) -> ScanRequest:
        """The same, of no more rows than this; ``None`` leaves it as it is."""
        if limit is None:
            return self
        asked = replace(self, limit=limit)
        return self if self.limit is not None and self.limit <= limit else asked


def scan_request(name: str, settings: ReadSettings) -> ScanRequest:
    """A request of all rows and columns of a table.

    Raises:
        InvalidArgumentError: A setting that is wrong.
        TypeError: A setting that there is not.
    """
    known = ReadSettings.__annotations__
    for given in settings:
        if given not in known:
            near = closest(given, known)
            raise TypeError(f"unexpected keyword argument {given!r}{near}; there are {', '.join(known)}")
    return ScanRequest(
        name,
        version=table_version(settings.get("version")),
        options=dict(settings.get("options") or {}),
        threads=settings.get("threads"),
        ordered=settings.get("ordered", True),
    )


def change_range(start: Version | Exclusive | None, end: Version | Exclusive | None) -> ChangeRange:
    """A range of changes as users write it; ``None`` is the beginning of the table, or its newest version.

    Raises:
        InvalidArgumentError: A time with no zone, or bounds that do not fit together.
    """
    first, last = (given.version if isinstance(given, Exclusive) else given for given in (start, end))
    return ChangeRange(
        table_version(first),
        table_version(last),
        start_inclusive=not isinstance(start, Exclusive),
        end_inclusive=not isinstance(end, Exclusive),
    )


def table_version(given: Version | None) -> TableVersion | None:
    """A version as users write it; ``None`` is the newest.

    Raises:
        InvalidArgumentError: A time with no zone.
    """
    if given is None:
        return None
    if isinstance(given, datetime):
        if given.tzinfo is None:
            raise InvalidArgumentError(f"the time {given} has no zone; expected an aware datetime")
        return TableVersion(VersionKind.TIMESTAMP, given.astimezone(UTC))
    return TableVersion(VersionKind.VERSION, str(given))


def _is_count(value: object, least: int) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= least)
