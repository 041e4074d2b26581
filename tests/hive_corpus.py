"""The tables that real Hive wrote (``corpus/hive``), registered in a metastore, and Hive's own answers."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import cast
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from catalog.metastore.client import MetastoreWriter, TransactionClient
from catalog.metastore.embedded.transactions import EmbeddedTransactions
from catalog.metastore.model import (
    Database,
    FieldSchema,
    Parameters,
    Partition,
    SerDeInfo,
    SortColumn,
    StorageDescriptor,
    Table,
)
from catalog.metastore.transactions import ValidWriteIds
from catalog.metastore.types import parse_hive_type
from tests.paths import CORPUS
from tests.rows import Rows

__all__ = [
    "FULL_ACID_CASES",
    "INSERT_ONLY_CASES",
    "INSERT_ONLY_TEXT_CASES",
    "PLAIN_CASES",
    "TEXT_CASES",
    "HiveAnswer",
    "canonical_rows",
    "expected_answer",
    "expected_row_ids",
    "register_cases",
    "require_corpus",
    "value_of_hive",
    "with_null_keys",
]

Json = Mapping[str, object]

PLAIN_CASES = (
    "evolve_ext_orc",
    "evolve_ext_parquet",
    "evolve_ext_parquet_renamed",
    "ext_bucketed_v2",
    "ext_orc_none_part",
    "ext_orc_zlib",
    "ext_orc_zstd",
    "ext_parquet_gzip",
    "ext_parquet_snappy",
    "orc_alltypes",
    "orc_alltypes_ny",
    "parquet_alltypes",
    "parquet_alltypes_ny",
    "parquet_int64_alltypes",
    "parquet_int64_alltypes_ny",
    "plain_orc_union_subdirs",
)
"""Cases of ORC and Parquet tables that are not transactional."""

FULL_ACID_CASES = (
    "acid_aborted",
    "acid_aborted_compacted",
    "acid_all_deleted",
    "acid_alltypes",
    "acid_alltypes_major",
    "acid_bucketed",
    "acid_empty",
    "acid_flat",
    "acid_major",
    "acid_major_clean",
    "acid_major_writes",
    "acid_minor",
    "acid_minor_clean",
    "acid_minor_writes",
    "acid_multistmt",
    "acid_multistmt_open",
    "acid_open_insert",
    "acid_open_txn",
    "acid_overwrite",
    "acid_part_compacted",
    "acid_part_dropped",
    "acid_part_merge",
    "acid_part_overwrite",
    "acid_part_special",
    "acid_part_types",
    "acid_streaming_closed",
    "acid_streaming_open",
    "acid_truncate_empty",
    "acid_union",
    "converted_bucketed",
    "converted_unbucketed",
    "converted_unbucketed_fresh",
    "converted_unbucketed_major",
    "converted_unbucketed_major_clean",
    "converted_unbucketed_more",
    "converted_union_subdirs",
    "evolve_acid",
    "evolve_acid_renamed",
    "evolve_conv",
    "load_data_acid",
    "load_data_acid_fresh",
    "load_data_acid_major",
)
"""Cases of transactional tables with updates and deletes."""

INSERT_ONLY_CASES = (
    "evolve_mm_parquet",
    "mm_major",
    "mm_major_clean",
    "mm_minor",
    "mm_orc",
    "mm_orc_alltypes",
    "mm_orc_overwrite",
    "mm_parquet",
    "mm_truncate",
)
"""Cases of insert-only transactional tables, but for those of text files."""

INSERT_ONLY_TEXT_CASES = ("mm_converted", "mm_text")
"""Cases of insert-only transactional tables of text files."""

TEXT_CASES = (
    "ext_csv",
    "ext_csv_custom",
    "ext_json_hcat",
    "ext_multidelim",
    "ext_regex",
    "ext_subdirs",
    "ext_text_bz2",
    "ext_text_custom",
    "ext_text_default",
    "ext_text_deflate",
    "ext_text_empty_null",
    "ext_text_gz",
    "ext_text_lastcol",
    "ext_text_snappy",
    "text_alltypes",
    "text_tslocaltz",
    "text_tslocaltz_ny",
)
"""Cases of text files, of any SerDe, that are not transactional."""


@dataclass(frozen=True, slots=True)
class HiveAnswer:
    """What Hive answered to a SELECT of all columns.

    Attributes:
        columns: Name and Hive type of each column, in order.
        rows: Rows in the form of ``canonical_rows``, without order.
    """

    columns: tuple[tuple[str, str], ...]
    rows: Counter[tuple[object, ...]]


def require_corpus() -> Path:
    """The folder of the cases; skips the test where there is none."""
    folder = CORPUS / "hive"
    if not folder.is_dir():
        pytest.skip(f"no Hive tables at {folder}; set CONNECTOR_TEST_CORPUS")
    return folder


def register_cases(
    writer: MetastoreWriter,
    schema: str,
    cases: Iterable[str] = PLAIN_CASES,
    transactions: TransactionClient | None = None,
    root: Path | None = None,
    place: str | None = None,
) -> None:
    """Puts cases into a metastore, each as a table of its own name that lies where the corpus does.

    Args:
        writer: The metastore.
        schema: Name of the database, which is made.
        cases: Names.
        transactions: An embedded metastore's, to record the write ids of transactional tables.
        root: A folder of copies of the cases; the corpus itself if not given.
        place: Where the copies lie, such as ``hdfs://node/corpus``, if not in ``root``.
    """
    root = root or require_corpus()
    writer.create_database(Database(schema))
    for case in cases:
        dump = json.loads((root / case / "metastore.json").read_text())
        # Hive's locations are not percent-encoded.
        location = f"{place}/{case}/table" if place else f"file://{(root / case / 'table').resolve()}"
        writer.create_table(_table(dump["table"], schema, case, location))
        partitions = [_partition(one, schema, case, location) for one in dump["partitions"]]
        if partitions:
            writer.add_partitions(schema, case, partitions)
        if isinstance(transactions, EmbeddedTransactions) and dump.get("valid_write_id_list"):
            transactions.record_write_ids(_write_ids(f"{schema}.{case}", dump["valid_write_id_list"]))


def expected_answer(case: str) -> HiveAnswer:
    """Hive's answer for a case."""
    told = json.loads((require_corpus() / case / "expected.json").read_text())
    columns = tuple((column["name"], column["type"]) for column in told["columns"])
    types = [parse_hive_type(text) for _, text in columns]
    rows = Counter(
        tuple(value_of_hive(text, arrow) for text, arrow in zip(row, types, strict=True)) for row in told["rows"]
    )
    return HiveAnswer(columns, rows)


def expected_row_ids(case: str) -> Counter[tuple[int, int, int, str]]:
    """Write id, bucket property, row id and file, below the table's folder, of each row that Hive returned."""
    told = json.loads((require_corpus() / case / "expected_rowid.json").read_text())
    return Counter((int(row[0]), int(row[1]), int(row[2]), str(row[3])) for row in told["rows"])


def with_null_keys(rows: Counter[tuple[object, ...]]) -> Counter[tuple[object, ...]]:
    """Hive's rows with NULL where it shows a NULL partition key by the name of its folder.

    It does so for keys of text types, and cuts the name to the type's length; to Hive such a key is not even NULL.
    Spark and Trino give NULL, and so do we.
    """
    name = "__HIVE_DEFAULT_PARTITION__"
    shown = (name, name[:10])
    return Counter({tuple(None if value in shown else value for value in row): n for row, n in rows.items()})


def canonical_rows(table: pa.Table) -> Rows:
    """Rows as values that can be counted: NaN is a word, decimals are numbers, nested values are tuples.

    Dates and times are text, since Python's end at the year 9999, and floats of 32 bits are the shortest text.
    """
    columns = [_canonical_column(column.combine_chunks()) for column in table.columns]
    return Rows(zip(*columns, strict=True), table.column_names)


def value_of_hive(text: str | None, arrow: pa.DataType) -> object:
    """A value that Hive printed, in the form of ``canonical_rows``; binary values are base64."""
    if text is None:
        return None
    if pa.types.is_nested(arrow):
        return _from_json(json.loads(text, parse_float=Decimal), arrow)
    if pa.types.is_date(arrow):
        return text
    if pa.types.is_timestamp(arrow):
        if arrow.tz is not None:
            text, _, zone = text.rpartition(" ")
            moment = datetime.fromisoformat(text[:19]).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
            return f"{moment:%Y-%m-%d %H:%M:%S}.{text[20:].ljust(6, '0')[:6]}Z"
        whole, _, fraction = text.partition(".")
        # Hive has nanoseconds, our columns microseconds.
        return f"{whole}.{fraction.ljust(6, '0')[:6]}"
    if pa.types.is_boolean(arrow):
        return text == "true"
    if pa.types.is_integer(arrow):
        return int(text)
    if pa.types.is_floating(arrow):
        return _number(float(text), arrow.bit_width)
    if pa.types.is_decimal(arrow):
        return Decimal(text)
    return base64.b64decode(text) if pa.types.is_binary(arrow) else text


def _canonical_column(array: pa.Array) -> list[object]:
    if pa.types.is_temporal(array.type):
        return [value.as_py() for value in array.cast(pa.string())]
    if pa.types.is_float32(array.type):
        return [_number(value.as_py(), 32) for value in array]
    return [_plain(value, array.type) for value in array.to_pylist()]


def _plain(value: object, arrow: pa.DataType) -> object:
    if value is None:
        return None
    if pa.types.is_temporal(arrow):
        return pa.scalar(value, arrow).cast(pa.string()).as_py()
    if pa.types.is_list(arrow):
        return tuple(_plain(item, arrow.value_type) for item in cast(Sequence[object], value))
    if pa.types.is_map(arrow):
        pairs = cast(Sequence[tuple[object, object]], value)
        return frozenset((_plain(key, arrow.key_type), _plain(item, arrow.item_type)) for key, item in pairs)
    if pa.types.is_struct(arrow):
        return tuple(_plain(cast(Mapping[str, object], value)[field.name], field.type) for field in arrow)
    return _number(value, 64) if isinstance(value, float) else value


def _number(value: float | None, bits: int) -> object:
    if value is None or value == value:
        return value if bits == 64 or value is None else pa.scalar(value, pa.float32()).as_py()
    return "NaN"


def _from_json(value: object, arrow: pa.DataType) -> object:
    if value is None:
        return None
    if pa.types.is_list(arrow):
        return tuple(_from_json(item, arrow.value_type) for item in cast(Sequence[object], value))
    if pa.types.is_map(arrow):
        entries = cast(Mapping[str, object], value).items()
        return frozenset((key, _from_json(item, arrow.item_type)) for key, item in entries)
    if pa.types.is_struct(arrow):
        return tuple(_from_json(cast(Mapping[str, object], value)[field.name], field.type) for field in arrow)
    if pa.types.is_floating(arrow):
        return _number(float(str(value)), arrow.bit_width)
    if pa.types.is_temporal(arrow):
        return value_of_hive(str(value), arrow)
    return Decimal(str(value)) if pa.types.is_decimal(arrow) else value


def _write_ids(table: str, text: str) -> ValidWriteIds:
    _, high, minimum_open, running, aborted = text.split(":")
    ids = [tuple(int(one) for one in part.split(",") if one) for part in (running, aborted)]
    return ValidWriteIds(table, int(high), ids[0], ids[1], int(minimum_open))


def _table(dump: Json, schema: str, case: str, location: str) -> Table:
    return Table(
        schema,
        case,
        _storage(cast(Json, dump["sd"]), location),
        _fields(dump["partitionKeys"]),
        Parameters.of(cast(Mapping[str, str], dump["parameters"])),
        str(dump["tableType"]),
        cast(str | None, dump.get("owner")),
        cast(int, dump.get("createTime", 0)),
    )


def _partition(dump: Json, schema: str, case: str, location: str) -> Partition:
    return Partition(
        schema,
        case,
        tuple(cast(Sequence[str], dump["values"])),
        _storage(cast(Json, dump["sd"]), location),
        Parameters.of(cast(Mapping[str, str], dump["parameters"])),
        cast(int, dump.get("createTime", 0)),
    )


def _storage(dump: Json, location: str) -> StorageDescriptor:
    serde = cast(Json, dump["serdeInfo"])
    sort = cast(Sequence[Json], dump.get("sortCols", ()))
    return StorageDescriptor(
        _fields(dump["cols"]),
        str(dump["location"]).replace("${TABLE}", location),
        cast(str | None, dump.get("inputFormat")),
        cast(str | None, dump.get("outputFormat")),
        bool(dump.get("compressed")),
        cast(int, dump.get("numBuckets", -1)),
        SerDeInfo(str(serde["serializationLib"]), Parameters.of(cast(Mapping[str, str], serde["parameters"]))),
        tuple(cast(Sequence[str], dump.get("bucketCols", ()))),
        tuple(SortColumn(str(column["col"]), bool(column["order"])) for column in sort),
        Parameters.of(cast(Mapping[str, str], dump.get("parameters", {}))),
    )


def _fields(dump: object) -> tuple[FieldSchema, ...]:
    return tuple(
        FieldSchema(str(field["name"]), str(field["type"]), cast(str | None, field.get("comment")))
        for field in cast(Sequence[Json], dump)
    )
