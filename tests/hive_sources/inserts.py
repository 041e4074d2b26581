"""INSERT statements of Hive's q-tests: rows that Spark makes of their queries, in files as Hive would write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import cast

import pyarrow as pa
from pyarrow import orc, parquet
from pyspark.sql import DataFrame

from catalog.metastore.model import FieldSchema, Table

__all__ = ["Insert", "files_of", "parsed_insert"]

_INSERT = re.compile(
    r"insert\s+(into|overwrite)\s+(?:table\s+)?`?(\w+)`?\s*(?:partition\s*\(([^)]*)\))?\s*((?:select|values|with)\b.*)$",
    re.IGNORECASE | re.DOTALL,
)
_KEY = re.compile(r"`?(\w+)`?\s*(?:=\s*(?:'([^']*)'|\"([^\"]*)\"|([^,\s]+)))?")
_LEAF = re.compile(
    r"(?<![\w`])(?:boolean|tinyint|smallint|int|bigint|float|double|string|binary|date"
    r"|timestamp|(?:var)?char\(\d+\))(?=\s*(?:$|[,>)]))",
    re.IGNORECASE,
)
_TEXT = re.compile(r"\b(?:var)?char\((\d+)\)", re.IGNORECASE)
_LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
_DELIMITERS = ("field.delim", "collection.delim", "mapkey.delim")
_Write = Callable[[pa.Table, Path], None]


@dataclass(frozen=True, slots=True)
class Insert:
    """An INSERT statement.

    Attributes:
        table: Name, in lower case.
        overwrite: Whether rows that are there go.
        keys: Partition keys and their values; ``None`` for those that the query's last columns give.
        query: For Spark.
    """

    table: str
    overwrite: bool
    keys: Mapping[str, str | None]
    query: str


def parsed_insert(text: str) -> Insert | None:
    """The statement, if it is an INSERT without a list of columns."""
    found = _INSERT.match(text)
    if found is None:
        return None
    mode, table, keys, query = found.groups()
    named = {one[1].lower(): one[2] or one[3] or one[4] for one in _KEY.finditer(keys or "")}
    made = f"SELECT * FROM {query}" if query.lower().startswith("values") else query
    return Insert(table.lower(), mode.lower() == "overwrite", named, made)


def files_of(
    insert: Insert, table: Table, rows: DataFrame
) -> Iterator[tuple[Mapping[str, str], Callable[[Path], None]]]:
    """What is written: the values of the partition keys, and a function that writes the file.

    Raises:
        ValueError: If the table's format cannot be written here.
    """
    writer = _writer(table)
    open_keys = [key for key, value in insert.keys.items() if value is None]
    columns = table.storage.columns
    if len(rows.columns) != len(columns) + len(open_keys):
        raise ValueError(f"{len(rows.columns)} columns for {len(columns)} of the table")
    texts = _is_text(table)
    fields = [*columns, *(FieldSchema(key, "string") for key in open_keys)]
    named = rows.toDF(*(f"_{at}" for at in range(len(fields))))
    made = named.selectExpr(*(_cast(f"_{at}", one, texts) for at, one in enumerate(fields))).toArrow()
    body = made.select(range(len(columns))).rename_columns([one.name for one in columns])
    closed = {key: value for key, value in insert.keys.items() if value is not None}
    if not open_keys:
        yield closed, partial(writer, body)
        return
    values = list(zip(*(made.column(at).to_pylist() for at in range(len(columns), len(fields))), strict=True))
    for one in sorted(set(values), key=str):
        part = body.filter(pa.array([value == one for value in values]))
        yield {**closed, **dict(zip(open_keys, map(str, one), strict=True))}, partial(writer, part)


def _cast(name: str, field: FieldSchema, texts: bool) -> str:
    cut = _TEXT.fullmatch(field.type)
    kind = re.sub(r"\btimestamp\b", "timestamp_ntz", _TEXT.sub("string", field.type), flags=re.IGNORECASE)
    made = f"CAST({name} AS {kind})"
    if cut is not None:
        # Hive writes a char with its blanks, which a column of another type shows.
        made = f"substring({made}, 1, {cut[1]})" if "var" in field.type.lower() else f"rpad({made}, {cut[1]}, ' ')"
    # Text of each value as Java writes it, which is how Hive does, except decimals.
    return f"CAST({made} AS {_LEAF.sub('string', field.type)})" if texts else made


def _is_text(table: Table) -> bool:
    return str(table.storage.serde.serialization_lib) == _LAZY and str(table.storage.input_format).endswith(
        "mapred.TextInputFormat"
    )


def _writer(table: Table) -> _Write:
    form = str(table.storage.input_format)
    if table.parameters.get("transactional", "false").lower() == "true":
        raise ValueError("rows of a transactional table are written")
    if _is_text(table):
        given = table.storage.serde.parameters
        marks = [given.get(key, chr(at + 1)) for at, key in enumerate(_DELIMITERS)]
        marks = [chr(int(one)) if one.isdigit() else one for one in marks]
        null = given.get("serialization.null.format", table.parameters.get("serialization.null.format", "\\N"))
        return partial(_write_text, [*marks, *map(chr, range(4, 9))], null)
    if form.endswith("OrcInputFormat"):
        return lambda rows, file: orc.write_table(rows, file)
    if form.endswith("MapredParquetInputFormat"):
        return lambda rows, file: parquet.write_table(rows, file)
    raise ValueError(f"rows of {form} are written")


def _write_text(marks: Sequence[str], null: str, rows: pa.Table, file: Path) -> None:
    types = [field.type for field in rows.schema]
    columns = [column.to_pylist() for column in rows.columns]
    lines = (
        marks[0].join(_text(value, kind, marks[1:], null) for value, kind in zip(row, types, strict=True))
        for row in zip(*columns, strict=True)
    )
    file.write_text("".join(f"{line}\n" for line in lines))


def _text(value: object, kind: pa.DataType, marks: Sequence[str], null: str) -> str:
    if value is None:
        return null
    if pa.types.is_struct(kind):
        held = cast(Mapping[str, object], value)
        return marks[0].join(_text(held[one.name], one.type, marks[1:], null) for one in kind)
    if pa.types.is_list(kind):
        return marks[0].join(_text(one, kind.value_type, marks[1:], null) for one in cast(Sequence[object], value))
    if pa.types.is_map(kind):
        pairs = cast(Sequence[tuple[object, object]], value)
        types = (kind.key_type, kind.item_type)
        return marks[0].join(
            marks[1].join(_text(one, of, marks[2:], null) for one, of in zip(pair, types, strict=True))
            for pair in pairs
        )
    # All digits of the scale and no exponent, as Hive writes a decimal.
    return format(value, "f") if isinstance(value, Decimal) else str(value)
