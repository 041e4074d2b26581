"""``hoodie.properties``: what a table is and how its timeline and files are laid out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from connector_spi.errors import CorruptFileError, NotSupportedError
from connector_spi.serializable import Serializable
from connectors.hudi.error_codes import (
    HUDI_BAD_PROPERTIES,
    HUDI_UNSUPPORTED_BASE_FILE,
    HUDI_UNSUPPORTED_TABLE_FORMAT,
    HUDI_UNSUPPORTED_TABLE_VERSION,
)

__all__ = ["SUPPORTED_TABLE_VERSIONS", "TableConfig", "parse_table_config", "timeline_folders"]

SUPPORTED_TABLE_VERSIONS = (5, 6, 8, 9)
_LAYOUT_OF_VERSION = {5: 1, 6: 1, 8: 2, 9: 2}
_BASE_FORMATS = ("parquet", "orc")

# Key generators whose path segment is the text of the field's value (KeyGeneratorType and its classes).
_FAITHFUL_TYPES = frozenset({"SIMPLE", "COMPLEX", "SIMPLE_AVRO", "COMPLEX_AVRO", "NON_PARTITION", "NON_PARTITION_AVRO"})
_FAITHFUL_CLASSES = frozenset(
    f"org.apache.hudi.keygen.{name}"
    for name in (
        "SimpleKeyGenerator",
        "SimpleAvroKeyGenerator",
        "ComplexKeyGenerator",
        "ComplexAvroKeyGenerator",
        "NonpartitionedKeyGenerator",
        "NonpartitionedAvroKeyGenerator",
    )
)

_BOOTSTRAP = "hoodie.bootstrap.base.path"
_TIMESTAMP_KEYS = ("hoodie.keygen.timebased.", "hoodie.deltastreamer.keygen.timebased.")


@dataclass(frozen=True, slots=True)
class TableConfig(Serializable):
    """The table's properties that a reader needs.

    Attributes:
        name: ``hoodie.table.name``.
        merge_on_read: The table type is MERGE_ON_READ, not COPY_ON_WRITE.
        version: ``hoodie.table.version``.
        layout: Timeline layout: 1 (instants in ``.hoodie``) or 2 (instants with completion times in a folder).
        timeline_folder: Folder of the instants, relative to the table.
        archive_folder: Folder of the archived timeline, relative to the table.
        utc_timeline: Instants are written in UTC, not in the zone of the writers' machines.
        base_format: ``parquet`` or ``orc``.
        partition_fields: Names of the partition fields, in order.
        path_tells_values: A partition's path holds the very values of its fields: the key generator is a simple or
            complex one. Otherwise (timestamp, custom, unknown) the path says nothing certain.
        hive_style: Folders are named ``field=value``.
        url_encoded: Values in folder names are escaped as in Hive.
        drop_partition_columns: Data files lack the partition fields.
        populate_meta_fields: The ``_hoodie_`` columns hold values.
        record_key_fields: Names of the record key fields, in order; none where Hudi makes the keys.
        metadata_partitions: Indexes of the metadata table that are complete, such as ``files``; none where it is off.
        create_schema: Avro schema in JSON from the table's creation, or ``None``.
        properties: All properties, sorted by key.
        bootstrapped: Hudi took over files of another writer, and the names of their folders.
    """

    name: str
    merge_on_read: bool
    version: int
    layout: int
    timeline_folder: str
    archive_folder: str
    utc_timeline: bool
    base_format: str
    partition_fields: tuple[str, ...]
    path_tells_values: bool
    hive_style: bool
    url_encoded: bool
    drop_partition_columns: bool
    populate_meta_fields: bool
    record_key_fields: tuple[str, ...]
    metadata_partitions: tuple[str, ...]
    create_schema: str | None
    properties: tuple[tuple[str, str], ...]
    bootstrapped: bool = False


def parse_table_config(properties: Mapping[str, str], location: str) -> TableConfig:
    """Makes sense of the properties.

    Args:
        properties: Parsed ``hoodie.properties``.
        location: The table's directory, for messages.

    Raises:
        NotSupportedError: A version, layout or format that is not understood.
        CorruptFileError: A number is no number.
    """
    _refuse_formats(properties, location)
    version = _version(properties, location)
    layout = _layout(properties, version, location)
    timeline, archive = timeline_folders(properties, layout)
    return TableConfig(
        name=properties["hoodie.table.name"],
        merge_on_read=_merge_on_read(properties, location),
        version=version,
        layout=layout,
        timeline_folder=timeline,
        archive_folder=archive,
        utc_timeline=properties.get("hoodie.table.timeline.timezone", "LOCAL").strip().upper() == "UTC",
        base_format=_base_format(properties, location),
        partition_fields=_partition_fields(properties),
        path_tells_values=_path_tells_values(properties),
        hive_style=_flag(properties, "hoodie.datasource.write.hive_style_partitioning", False),
        url_encoded=_flag(properties, "hoodie.datasource.write.partitionpath.urlencode", False),
        drop_partition_columns=_flag(properties, "hoodie.datasource.write.drop.partition.columns", False),
        populate_meta_fields=_flag(properties, "hoodie.populate.meta.fields", True),
        record_key_fields=_names(properties.get("hoodie.table.recordkey.fields", "")),
        metadata_partitions=_metadata_partitions(properties),
        create_schema=properties.get("hoodie.table.create.schema") or None,
        properties=tuple(sorted(properties.items())),
        bootstrapped=_BOOTSTRAP in properties,
    )


def timeline_folders(properties: Mapping[str, str], layout: int) -> tuple[str, str]:
    """The folders of the active and the archived timeline, relative to the table.

    Args:
        properties: Parsed ``hoodie.properties``.
        layout: Timeline layout, 1 or 2.
    """
    if layout == 1:
        return ".hoodie", f".hoodie/{properties.get('hoodie.archivelog.folder', 'archived').strip('/')}"
    active = f".hoodie/{properties.get('hoodie.timeline.path', 'timeline').strip('/')}"
    return active, f"{active}/{properties.get('hoodie.timeline.history.path', 'history').strip('/')}"


def _flag(properties: Mapping[str, str], key: str, default: bool) -> bool:
    return properties.get(key, str(default)).strip().lower() == "true"


def _refuse_formats(properties: Mapping[str, str], location: str) -> None:
    table_format = properties.get("hoodie.table.format", "native")
    if table_format.strip().lower() != "native":
        raise NotSupportedError(
            f"{location}: hoodie.table.format is {table_format!r}; only 'native' can be read",
            HUDI_UNSUPPORTED_TABLE_FORMAT,
        )
    storage_layout = properties.get("hoodie.table.storage.layout", "default")
    if storage_layout.strip().lower() not in ("default", "base_log", "bucket"):
        raise NotSupportedError(
            f"{location}: hoodie.table.storage.layout is {storage_layout!r}, which is not understood",
            HUDI_UNSUPPORTED_TABLE_FORMAT,
        )


def _version(properties: Mapping[str, str], location: str) -> int:
    text = properties.get("hoodie.table.version")
    supported = ", ".join(map(str, SUPPORTED_TABLE_VERSIONS))
    if text is None:
        raise NotSupportedError(
            f"{location}: hoodie.table.version is missing, as in tables of Hudi before 0.6; versions {supported} "
            "can be read: upgrade the table with Hudi's upgrade command",
            HUDI_UNSUPPORTED_TABLE_VERSION,
        )
    version = _number(text, "hoodie.table.version", location)
    if version not in SUPPORTED_TABLE_VERSIONS:
        raise NotSupportedError(
            f"{location}: hoodie.table.version is {version}; versions {supported} can be read: bring the "
            "table to one of them with Hudi",
            HUDI_UNSUPPORTED_TABLE_VERSION,
        )
    return version


def _layout(properties: Mapping[str, str], version: int, location: str) -> int:
    text = properties.get("hoodie.timeline.layout.version")
    layout = _LAYOUT_OF_VERSION[version] if text is None else _number(text, "hoodie.timeline.layout.version", location)
    if layout not in (1, 2):
        raise NotSupportedError(
            f"{location}: hoodie.timeline.layout.version is {layout}; layouts 1 and 2 can be read",
            HUDI_UNSUPPORTED_TABLE_VERSION,
        )
    return layout


def _number(text: str, key: str, location: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise CorruptFileError(f"{location}: {key} is {text!r}, not a number", HUDI_BAD_PROPERTIES) from error


def _merge_on_read(properties: Mapping[str, str], location: str) -> bool:
    kind = properties["hoodie.table.type"].strip().upper()
    if kind not in ("COPY_ON_WRITE", "MERGE_ON_READ"):
        raise NotSupportedError(
            f"{location}: hoodie.table.type is {kind!r}; COPY_ON_WRITE and MERGE_ON_READ are known",
            HUDI_UNSUPPORTED_TABLE_FORMAT,
        )
    return kind == "MERGE_ON_READ"


def _base_format(properties: Mapping[str, str], location: str) -> str:
    text = properties.get("hoodie.table.base.file.format") or properties.get("hoodie.table.ro.file.format")
    base_format = (text or "parquet").strip().lower()
    if base_format not in _BASE_FORMATS:
        raise NotSupportedError(
            f"{location}: hoodie.table.base.file.format is {text!r}; PARQUET and ORC can be read",
            HUDI_UNSUPPORTED_BASE_FILE,
        )
    return base_format


def _partition_fields(properties: Mapping[str, str]) -> tuple[str, ...]:
    # A custom key generator stores "field:SIMPLE" or "field:TIMESTAMP" since version 8.
    fields = properties.get("hoodie.table.partition.fields", "").split(",")
    return tuple(field.strip().partition(":")[0] for field in fields if field.strip())


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _metadata_partitions(properties: Mapping[str, str]) -> tuple[str, ...]:
    complete, building = (
        {name.strip() for name in properties.get(f"hoodie.table.metadata.partitions{key}", "").split(",")}
        for key in ("", ".inflight")
    )
    return tuple(sorted(complete - building - {""}))


def _path_tells_values(properties: Mapping[str, str]) -> bool:
    if _flag(properties, "hoodie.datasource.write.slash.separated.date.partitioning", False):
        return False
    # The folders are those of the files taken over, "field=value" as a rule, whatever Hudi's own would be called.
    if _BOOTSTRAP in properties and not _flag(properties, "hoodie.datasource.write.hive_style_partitioning", False):
        return False
    if any(key.startswith(_TIMESTAMP_KEYS) for key in properties):
        return False
    kind = properties.get("hoodie.table.keygenerator.type")
    if kind is not None:
        return kind.strip().upper() in _FAITHFUL_TYPES
    return properties.get("hoodie.table.keygenerator.class", "").strip() in _FAITHFUL_CLASSES
