"""Hudi's own read options (DataSourceReadOptions), so that code written for its data source keeps working. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.properties import closest
from connectors.hudi.error_codes import HUDI_BAD_OPTION

__all__ = [
    "AS_OF",
    "BEGIN",
    "COLUMN_OPTIONS",
    "END",
    "END_SCHEMA",
    "FALLBACK",
    "FORMAT",
    "HOLES",
    "PATH_GLOB",
    "QUERY_TYPE",
    "STREAM_START",
    "HolesPolicy",
    "HudiReadOptions",
    "QueryType",
    "parse_read_options",
]

QUERY_TYPE = "hoodie.datasource.query.type"
AS_OF = "as.of.instant"
BEGIN = "hoodie.datasource.read.begin.instanttime"
END = "hoodie.datasource.read.end.instanttime"
FALLBACK = "hoodie.datasource.read.incr.fallback.fulltablescan.enable"
HOLES = "hoodie.read.timeline.holes.resolution.policy"
FORMAT = "hoodie.datasource.query.incremental.format"
_FILTERS = "hoodie.datasource.read.incr.filters"
PATH_GLOB = "hoodie.datasource.read.incr.path.glob"
STREAM_START = "hoodie.datasource.streaming.startoffset"
"""In lower case: of streams only."""
END_SCHEMA = "hoodie.datasource.read.schema.use.end.instanttime"
_MERGE = "hoodie.datasource.merge.type"

_OLDER_NAMES = {
    "hoodie.datasource.view.type": QUERY_TYPE,
    "hoodie.datasource.read.handle.hollow.commit": HOLES,
}
COLUMN_OPTIONS = frozenset({QUERY_TYPE, BEGIN, END, FORMAT, END_SCHEMA, HOLES, *_OLDER_NAMES})
"""Names of the options that choose which columns a table shows, with those that such a choice depends on."""

# These choose how Hudi's reader works, never which rows there are.
_WITHOUT_EFFECT = frozenset(
    {
        "hoodie.datasource.read.file.index.list.file.statuses.using.ro.path.filter",
        "hoodie.datasource.read.file.index.listing.mode",
        "hoodie.datasource.read.file.index.listing.partition-path-prefix.analysis.enabled",
        "hoodie.datasource.read.incr.skip_cluster",
        "hoodie.datasource.read.incr.skip_compact",
        "hoodie.datasource.read.use.new.parquet.file.format",
        "hoodie.enable.data.skipping",
        "hoodie.file.group.reader.enabled",
        "hoodie.file.index.enable",
        "hoodie.merge.use.record.positions",
        "hoodie.metadata.enable",
    }
)
_KNOWN = (QUERY_TYPE, AS_OF, BEGIN, END, FALLBACK, HOLES, FORMAT, _FILTERS, PATH_GLOB, END_SCHEMA, _MERGE)


_Choice = TypeVar("_Choice", bound=Enum)


class QueryType(Enum):
    """What of a table is read."""

    SNAPSHOT = "snapshot"
    READ_OPTIMIZED = "read_optimized"
    INCREMENTAL = "incremental"


class HolesPolicy(Enum):
    """What to do about a write that is older than the end of an incremental query and not finished."""

    FAIL = "FAIL"
    BLOCK = "BLOCK"


class _IncrementalFormat(Enum):
    LATEST_STATE = "latest_state"
    CDC = "cdc"


@dataclass(frozen=True, slots=True)
class HudiReadOptions:
    """The options of one use of a table.

    Attributes:
        query_type: ``None`` where the table says it itself.
        as_of: Instant of time travel, in any form.
        begin: Where an incremental query begins, exclusive, in any form; ``None`` is not said.
        end: Where it ends, inclusive; ``None`` is the newest write.
        full_scan: Where files of the range are gone, the rows are looked for in the newest state of the table.
        holes: What to do about older writes that are not finished.
        feed: An incremental query gives what changed, in the columns of Hudi's change feed (``cdc``).
        path_glob: An incremental query reads only files whose paths end like this; empty is any.
        end_schema: An incremental query has the columns that the table had after its last write.
    """

    query_type: QueryType | None = None
    as_of: str | None = None
    begin: str | None = None
    end: str | None = None
    full_scan: bool = False
    holes: HolesPolicy = HolesPolicy.FAIL
    feed: bool = False
    path_glob: str = ""
    end_schema: bool = False


def parse_read_options(table: object, options: Mapping[str, str]) -> HudiReadOptions:
    """Makes sense of the options of one use of a table.

    Args:
        table: Its name, for messages.
        options: By name in lower case.

    Raises:
        InvalidArgumentError: A name or value that is not known, or options that do not fit together.
        NotSupportedError: One that is understood, and that nothing here can follow.
    """
    given = {_OLDER_NAMES.get(name, name): text.strip() for name, text in options.items()}
    for name in sorted(given):
        if name not in _KNOWN and name not in _WITHOUT_EFFECT:
            raise _invalid(table, f"option '{name}' is not known{closest(name, _KNOWN)}; leave it out")
    _refuse(table, given)
    kind = _choice(table, given, QUERY_TYPE, QueryType)
    parsed = HudiReadOptions(
        query_type=kind,
        as_of=given.get(AS_OF),
        begin=given.get(BEGIN),
        end=given.get(END),
        full_scan=_flag(table, given, FALLBACK),
        holes=_choice(table, given, HOLES, HolesPolicy) or HolesPolicy.FAIL,
        feed=_choice(table, given, FORMAT, _IncrementalFormat) is _IncrementalFormat.CDC,
        path_glob=given.get(PATH_GLOB, ""),
        end_schema=_flag(table, given, END_SCHEMA),
    )
    if kind is QueryType.INCREMENTAL:
        _check_incremental(table, parsed)
        return parsed
    alone = [name for name in (BEGIN, END, FORMAT, PATH_GLOB, END_SCHEMA) if name in given]
    if parsed.begin or parsed.end or parsed.feed or parsed.path_glob or parsed.end_schema:
        raise _invalid(table, f"{' and '.join(map(repr, alone))} need '{QUERY_TYPE}' incremental")
    return parsed


def _check_incremental(table: object, parsed: HudiReadOptions) -> None:
    if parsed.as_of is not None:
        raise _invalid(table, f"'{AS_OF}' does not fit an incremental query; say '{END}'")
    if parsed.begin is None:
        raise _invalid(table, f"an incremental query needs '{BEGIN}'; 'earliest' is the beginning of the table")
    if parsed.feed and (parsed.path_glob or parsed.end_schema or parsed.full_scan):
        raise _invalid(
            table, f"'{FORMAT}' cdc does not go with '{PATH_GLOB}', '{END_SCHEMA}' or '{FALLBACK}'; leave these out"
        )
    if parsed.path_glob and parsed.full_scan:
        raise _invalid(table, f"'{PATH_GLOB}' does not go with '{FALLBACK}'; remove one")


def _refuse(table: object, given: Mapping[str, str]) -> None:
    if given.get(_FILTERS):
        # Any SQL of Spark's, split at commas; Hudi's own newer readers pass over it.
        raise NotSupportedError(
            f"{table}: option '{_FILTERS}' is not supported; put the conditions into WHERE", HUDI_BAD_OPTION
        )
    if given.get(_MERGE, "payload_combine").lower() != "payload_combine":
        raise NotSupportedError(
            f"{table}: option '{_MERGE}' is {given[_MERGE]!r}; only payload_combine can be read", HUDI_BAD_OPTION
        )


def _choice(table: object, given: Mapping[str, str], name: str, kind: type[_Choice]) -> _Choice | None:
    text = given.get(name)
    if text is None:
        return None
    for member in kind:
        if str(member.value).lower() == text.lower():
            return member
    values = ", ".join(str(member.value) for member in kind)
    raise _invalid(table, f"option '{name}' is {text!r}; expected {values}")


def _flag(table: object, given: Mapping[str, str], name: str) -> bool:
    text = given.get(name, "false").lower()
    if text not in ("true", "false"):
        raise _invalid(table, f"option '{name}' is {text!r}; expected true or false")
    return text == "true"


def _invalid(table: object, what: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{table}: {what}", HUDI_BAD_OPTION)
