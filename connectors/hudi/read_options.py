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
    "END",
    "FALLBACK",
    "HOLES",
    "QUERY_TYPE",
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
_FORMAT = "hoodie.datasource.query.incremental.format"
_FILTERS = "hoodie.datasource.read.incr.filters"
_GLOB = "hoodie.datasource.read.incr.path.glob"
_END_SCHEMA = "hoodie.datasource.read.schema.use.end.instanttime"
_MERGE = "hoodie.datasource.merge.type"

_OLDER_NAMES = {
    "hoodie.datasource.view.type": QUERY_TYPE,
    "hoodie.datasource.read.handle.hollow.commit": HOLES,
}
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
_KNOWN = (QUERY_TYPE, AS_OF, BEGIN, END, FALLBACK, HOLES, _FORMAT, _FILTERS, _GLOB, _END_SCHEMA, _MERGE)


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
    """

    query_type: QueryType | None = None
    as_of: str | None = None
    begin: str | None = None
    end: str | None = None
    full_scan: bool = False
    holes: HolesPolicy = HolesPolicy.FAIL


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
    )
    if kind is QueryType.INCREMENTAL and parsed.as_of is not None:
        raise _invalid(table, f"'{AS_OF}' does not fit an incremental query; say '{END}'")
    if kind is QueryType.INCREMENTAL and parsed.begin is None:
        raise _invalid(table, f"an incremental query needs '{BEGIN}'; 'earliest' is the beginning of the table")
    if kind is not QueryType.INCREMENTAL and (parsed.begin or parsed.end):
        raise _invalid(table, f"'{BEGIN}' and '{END}' need '{QUERY_TYPE}' incremental")
    return parsed


def _refuse(table: object, given: Mapping[str, str]) -> None:
    ways = {
        _FILTERS: "put them into WHERE",
        _GLOB: "put a condition on the partition columns into WHERE",
    }
    for name, way in ways.items():
        if given.get(name):
            raise NotSupportedError(f"{table}: option '{name}' is not supported; {way}", HUDI_BAD_OPTION)
    if given.get(_FORMAT, "latest_state").lower() != "latest_state":
        raise NotSupportedError(
            f"{table}: option '{_FORMAT}' is {given[_FORMAT]!r}, which would be other columns; read the changes with "
            "CHANGES FROM VERSION ... TO VERSION ..., or with session.changes",
            HUDI_BAD_OPTION,
        )
    if _flag(table, given, _END_SCHEMA):
        raise NotSupportedError(
            f"{table}: option '{_END_SCHEMA}' is true, which would be other columns; the table's newest columns can "
            "be read",
            HUDI_BAD_OPTION,
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
