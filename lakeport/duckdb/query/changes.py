"""``t CHANGES FROM ... TO ...`` of Spark 4.2, which sqlglot does not know."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import sqlglot
from sqlglot.errors import SqlglotError

from connector_spi.errors import InvalidArgumentError
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.optional.changes import ChangeRange
from lakeport.duckdb.refusal import refused

__all__ = ["change_range_of", "instant_of", "with_changes_as_versions"]

_VALUE = r"(?:\d+|'[^'\"\\]*')"
_BOUND = rf"(VERSION|TIMESTAMP)\s+({_VALUE})(?:\s+(INCLUSIVE|EXCLUSIVE))?"
_CHANGES = re.compile(rf"CHANGES\s+FROM\s+{_BOUND}(?:\s+TO\s+{_BOUND})?(?:\s+(WITH)\s*\()?", re.IGNORECASE)
_MARK = "lakeport changes "


def with_changes_as_versions(text: str) -> str:
    """A statement in which each range of changes stands as a version that ``change_range_of`` reads.

    Raises:
        NotSupportedError: Options of the changes.
    """
    if "changes" not in text.lower():
        return text
    try:
        tokens = sqlglot.tokenize(text, dialect="spark")
    except SqlglotError:
        return text  # the parser says what is wrong
    # Not in texts, comments and quoted names.
    starts = [one.start for one in tokens if one.text.upper() == "CHANGES" and text[one.start].isalpha()]
    for start in reversed(starts):
        found = _CHANGES.match(text, start)
        if found is None:
            continue
        if found[7]:
            raise refused(found[0], "options of changes")
        # Spark's texts have no quote in them that every parser reads alike.
        written = (_MARK + found[0]).replace("'", '"')
        text = f"{text[:start]}VERSION AS OF '{written}'{text[found.end() :]}"
    return text


def change_range_of(version: str) -> ChangeRange | None:
    """The range that stands as a version; ``None`` where it is a version.

    Raises:
        InvalidArgumentError: A time that is none, or bounds that do not fit together.
    """
    is_range = version.startswith(_MARK)
    found = _CHANGES.fullmatch(version.removeprefix(_MARK).replace('"', "'")) if is_range else None
    if found is None:
        return None
    end = None if found[4] is None else _bound(found[4], found[5])
    inclusive = [(written or "").upper() != "EXCLUSIVE" for written in (found[3], found[6])]
    return ChangeRange(_bound(found[1], found[2]), end, start_inclusive=inclusive[0], end_inclusive=inclusive[1])


def instant_of(text: str, where: str) -> datetime:
    """A time as it is written, in UTC where it says no zone.

    Args:
        text: The time.
        where: What it follows, for messages.

    Raises:
        InvalidArgumentError: It is none.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidArgumentError(
            f"{where} '{text}' is no time; expected one such as '2024-01-31 12:00:00'"
        ) from error
    return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)


def _bound(kind: str, written: str) -> TableVersion:
    value = written.strip("'")
    if kind.upper() == "VERSION":
        return TableVersion(VersionKind.VERSION, value)
    return TableVersion(VersionKind.TIMESTAMP, instant_of(value, kind.upper()))
