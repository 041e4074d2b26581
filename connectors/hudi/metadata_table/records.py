"""Records of the metadata table (HoodieMetadataRecord), and how a newer one changes an older (HoodieMetadataPayload).

Pure. Logical types are ignored: a value comes as it is encoded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from connectors.toolkit.avro.records import read_avro_dicts

__all__ = [
    "ColumnStats",
    "Record",
    "RecordLocation",
    "StatValue",
    "decode_records",
    "merge_column_stats",
    "merge_files",
    "record_location",
]

Record = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class StatValue:
    """A bound as it is written.

    Attributes:
        wrapper: Name of the Avro record around the value, such as ``LongWrapper``.
        value: What is in it.
        scale: Of a decimal: digits behind the point.
        ordinal: Kind of value that version 2 of the index notes (ValueType), else ``None``.
    """

    wrapper: str
    value: object
    scale: int | None = None
    ordinal: int | None = None


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """What is known of a column in a file or partition.

    Attributes:
        file_name: The file, or the partition's identifier.
        column: Name of the column.
        low: Smallest values; of merged records there are several. Empty is unknown, or there is none.
        high: Greatest values, likewise.
        value_count: Number of values, NULLs included.
        null_count: Number of NULLs.
        tight: The record is of all files of the partition as they are, and replaces what was known before.
    """

    file_name: str
    column: str
    low: tuple[StatValue, ...]
    high: tuple[StatValue, ...]
    value_count: int
    null_count: int
    tight: bool

    def widened(self, other: ColumnStats) -> ColumnStats:
        """Both taken together, the other being the newer."""
        # Where values have no bounds, even if all are said to be NULL, those of the others say nothing of them.
        bounded = bool(self.low or not self.value_count) and bool(other.low or not other.value_count)
        return replace(
            self,
            low=self.low + other.low if bounded else (),
            high=self.high + other.high if bounded else (),
            value_count=self.value_count + other.value_count,
            null_count=self.null_count + other.null_count,
            tight=other.tight,
        )


@dataclass(frozen=True, slots=True)
class RecordLocation:
    """Where the record index says that a record is.

    Attributes:
        partition: The partition's identifier.
        file_id: Id of the file group.
    """

    partition: str
    file_id: str


def decode_records(schema: str, values: Sequence[bytes]) -> list[Record]:
    """Decodes records.

    Args:
        schema: Avro schema that they were written with, as JSON.
        values: Values of an HFile's cells.

    Raises:
        ValueError: They are no such records.
    """
    return list(read_avro_dicts(_plain_schema(schema), values, record_names=True))


def merge_files(layers: Iterable[Record | None]) -> dict[str, int]:
    """The files of a partition, or the partitions of a table, that are there.

    Args:
        layers: The records of one key, oldest first; ``None`` where the key was deleted.

    Returns:
        Bytes by name; 0 for a partition.

    Raises:
        ValueError: A record is of another kind.
    """
    found: dict[str, tuple[int, bool]] = {}
    for layer in layers:
        if layer is None:
            found.clear()
            continue
        for name, value in _mapping(layer, "filesystemMetadata").items():
            info = _record(value)
            size, deleted = _int(info["size"]), bool(info["isDeleted"])
            older = found.get(name)
            if older is None:
                found[name] = size, deleted
            elif deleted:
                # HoodieMetadataPayload.combineFileSystemMetadata: what is deleted goes; files only ever grow.
                del found[name]
            else:
                found[name] = max(size, older[0]), False
    return {name: size for name, (size, deleted) in found.items() if not deleted}


def merge_column_stats(layers: Iterable[Record | None]) -> ColumnStats | None:
    """Statistics of one key; ``None`` where there are none (HoodieTableMetadataUtil.mergeColumnStatsRecords).

    Args:
        layers: The records of one key, oldest first; ``None`` where the key was deleted.

    Raises:
        ValueError: A record is of another kind.
    """
    found: ColumnStats | None = None
    for layer in layers:
        newer = _column_stats(layer) if layer is not None else None
        found = newer if newer is None or newer.tight or found is None else found.widened(newer)
    return found


def record_location(layers: Sequence[Record | None]) -> RecordLocation | None:
    """Where the newest record of a key says that a record is; ``None`` where it was deleted.

    Raises:
        ValueError: A record is of another kind, or its file id is written in a way that is not known.
    """
    layer = layers[-1] if layers else None
    if layer is None:
        return None
    entry = _record(layer["recordIndexMetadata"])
    if _int(entry.get("fileIdEncoding") or 0) == 1:
        return RecordLocation(str(entry["partitionName"]), str(entry["fileId"]))
    if _int(entry.get("fileIdEncoding") or 0) != 0:
        raise ValueError(f"a file id of encoding {entry['fileIdEncoding']}")
    high, low = _int(entry["fileIdHighBits"]), _int(entry["fileIdLowBits"])
    digits = f"{high & (1 << 64) - 1:016x}{low & (1 << 64) - 1:016x}"
    uuid = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    index = _int(entry["fileIndex"])
    return RecordLocation(str(entry["partitionName"]), uuid if index < 0 else f"{uuid}-{index}")


def _column_stats(layer: Record) -> ColumnStats | None:
    entry = _record(layer["ColumnStatsMetadata"])
    if entry["isDeleted"]:
        return None
    kind = entry.get("valueType")
    value_type = _record(kind) if kind is not None else {}
    return ColumnStats(
        file_name=str(entry["fileName"]),
        column=str(entry["columnName"]),
        low=_bound(entry["minValue"], value_type),
        high=_bound(entry["maxValue"], value_type),
        value_count=_int(entry["valueCount"] or 0),
        # Parquet says -1 where they were not counted: then there may be some.
        null_count=abs(_int(entry["nullCount"] or 0)),
        tight=bool(entry.get("isTightBound", False)),
    )


def _bound(bound: object, value_type: Record) -> tuple[StatValue, ...]:
    if bound is None:
        return ()
    if not isinstance(bound, tuple) or len(bound) != 2 or not isinstance(bound[1], dict):
        raise ValueError(f"a bound of the type {type(bound).__name__}")
    name = str(bound[0]).rpartition(".")[2]
    ordinal = _int(value_type["typeOrdinal"]) if value_type else None
    scale = 15 if name == "DecimalWrapper" else None
    info = value_type.get("additionalInfo")
    if info is not None and "," in str(info):
        scale = int(str(info).split(",")[1])
    return (StatValue(name, bound[1].get("value"), scale, ordinal),)


@lru_cache(maxsize=64)
def _plain_schema(schema: str) -> str:
    return json.dumps(_without_logical_types(json.loads(schema)))


def _without_logical_types(node: object) -> object:
    if isinstance(node, dict):
        return {key: _without_logical_types(value) for key, value in node.items() if key != "logicalType"}
    return [_without_logical_types(item) for item in node] if isinstance(node, list) else node


def _mapping(layer: Record, field: str) -> Record:
    return _record(layer[field]) if layer[field] is not None else {}


def _record(value: object) -> Record:
    if not isinstance(value, dict):
        raise ValueError(f"expected a record, met {type(value).__name__}")
    return value


def _int(value: object) -> int:
    if not isinstance(value, int):
        raise ValueError(f"expected a number, met {type(value).__name__}")
    return value
