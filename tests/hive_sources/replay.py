"""Runs the statements of Hive's q-tests here: tables over ``data/files`` in a metastore of ours, queries in Spark.

Rows that Hive inserts are what Spark makes of the query, in files of text, ORC and Parquet. Queries of tables that
anything else wrote to are left out, with the reason.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from catalog.metastore.factory import Metastore
from connector_spi.errors import ConnectorError
from tests.hive_corpus import canonical_rows, value_of_hive
from tests.hive_sources.definitions import altered, altered_name, created_for_spark
from tests.hive_sources.inserts import Insert, files_of, parsed_insert
from tests.hive_sources.q_tests import Step

__all__ = ["Kind", "Outcome", "Replay"]

# Settings of Hive that change what a reader of files shows.
_TELLING = (
    "hive.avro.", "hive.lazysimple.", "hive.parquet.timestamp", "hive.parquet.date", "hive.orc.", "orc.",
    "parquet.column",
)  # fmt: skip
_TABLE = r"(?:if\s+(?:not\s+)?exists\s+)?`?((?:\w+\.)?\w+)`?"
_CREATE = re.compile(rf"create\s+(external\s+)?table\s+{_TABLE}\s*\(", re.IGNORECASE)
_COPIES = re.compile(r"\bas\s*\(?\s*select\b", re.IGNORECASE)
_COPY = re.compile(
    rf"create\s+table\s+{_TABLE}\s*(?:stored\s+as\s+(\w+)\s*)?as\s+(select\b.+)$", re.IGNORECASE | re.DOTALL
)
_MADE = re.compile(rf"create\s+(?:\w+\s+)*?(?:table|view)\s+{_TABLE}", re.IGNORECASE)
_LOAD = re.compile(
    rf"load\s+data\s+(?:local\s+)?inpath\s+(['\"])(.+?)\1\s+(overwrite\s+)?into\s+table\s+{_TABLE}"
    r"\s*(?:partition\s*\((.+)\))?\s*$",
    re.IGNORECASE | re.DOTALL,
)
_SET = re.compile(r"set\s+([\w.\-:]+)\s*=\s*(.*)$", re.IGNORECASE | re.DOTALL)
_READS = re.compile(r"(select|with)\b", re.IGNORECASE)
_DEFINES = re.compile(r"(alter\s+table|drop\s+table|drop\s+view)\b", re.IGNORECASE)
_HARMLESS = re.compile(r"(explain|describe|desc|show|analyze|dfs\s+-(ls|du|cat)|add|use)\b|!", re.IGNORECASE)
_HIVES = re.compile(r"\bhash\s*\(", re.IGNORECASE)
_CHOSEN = re.compile(r"\blimit\b|\brand\s*\(|\btablesample\b", re.IGNORECASE)


Row = tuple[object, ...]


class Kind(Enum):
    """How a query went."""

    EQUAL = "equal"
    DIFFERENT = "different"
    REFUSED = "refused"
    NOT_SPARKS = "not Spark's"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a query.

    Attributes:
        kind: How it went.
        query: The query.
        detail: The rows that differ, the error, or the reason.
    """

    kind: Kind
    query: str
    detail: str = ""


@dataclass(slots=True)
class Replay:
    """One q-test.

    Args:
        spark: A session whose current schema is ``default`` of one of our catalogs, empty.
        metastore: The catalog's.
        sources: Hive's sources.
        folder: Where the tables' files are copied to.
    """

    spark: SparkSession
    metastore: Metastore
    sources: Path
    folder: Path
    outcomes: list[Outcome] = field(default_factory=list)
    _tables: dict[str, str] = field(default_factory=dict)
    _default_format: str = "textfile"
    _header: bool = False
    _settings: dict[str, str] = field(default_factory=dict)

    def run(self, step: Step) -> None:
        """Runs a statement; a query adds to ``outcomes``."""
        text = self._with_paths(step.text)
        if found := _SET.match(text):
            self._set(found[1].lower(), found[2].strip())
        elif found := _LOAD.match(text):
            _, path, overwrite, loaded, partition = found.groups()
            self._try(text, lambda: self._load(path, loaded.lower(), partition or "", bool(overwrite)))
        elif _READS.match(text):
            self._query(text, step.lines)
        elif (found := _CREATE.match(text)) and not _COPIES.search(text):
            table = found[2].lower()
            self._tables[table] = ""
            self._try(text, lambda: self._create(text, table))
        elif found := _COPY.match(text):
            copy, form, query = found[1].lower(), found[2], found[3]
            self._tables[copy] = ""
            self._try(text, lambda: self._copy(copy, form or self._default_format, query))
        elif (name := altered_name(text)) is not None:
            changed = name
            self._try(text, lambda: self._alter(changed, text))
        elif _DEFINES.match(text):
            self._try(text, lambda: self.spark.sql(text))
        elif (insert := parsed_insert(text)) is not None and insert.table in self._tables:
            rows = insert
            self._try(text, lambda: self._insert(rows))
        elif not _HARMLESS.match(text):
            self._spoil(text, "rows are written")

    def _with_paths(self, text: str) -> str:
        files = str(self.sources / "data" / "files")
        text = re.sub(r"\$\{(?:hiveconf:)?test\.data\.dir\}", files, text)
        return text.replace("../../data/files", files).strip()

    def _set(self, key: str, value: str) -> None:
        if key == "hive.default.fileformat":
            self._default_format = value
        elif key == "hive.cli.print.header":
            self._header = value.lower() == "true"
        elif key.startswith(_TELLING):
            self._settings[key] = value

    def _alter(self, name: str, text: str) -> None:
        table = self.metastore.reads.get_table("default", name)
        if table is not None:
            self.metastore.writes.alter_table("default", name, altered(table, text))

    def _create(self, text: str, table: str) -> None:
        text = created_for_spark(text)
        if not re.search(r"\blocation\s*['\"]", text, re.IGNORECASE):
            place = self.folder / table
            # One of the name may have been dropped before, which leaves its files.
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            text += f"\nLOCATION '{place}'"
        if not re.search(r"\bstored\s+(as|by)\b|\brow\s+format\s+serde\b", text, re.IGNORECASE):
            text += f"\nSTORED AS {self._default_format}"
        self.spark.sql(text)

    def _copy(self, table: str, form: str, query: str) -> None:
        columns = ", ".join(f"`{name}` {kind}" for name, kind in self.spark.sql(query).dtypes)
        self._create(f"create table {table} ({columns}) stored as {form}", table)
        self._insert(Insert(table, False, {}, query))

    def _load(self, path: str, table: str, partition: str, overwrite: bool) -> None:
        place = self.folder / table
        if partition:
            keys = re.findall(r"`?(\w+)`?\s*=\s*(?:'([^']*)'|\"([^\"]*)\"|([^,\s]+))", partition)
            place = place.joinpath(*(f"{key.lower()}={''.join(value)}" for key, *value in keys))
        if overwrite:
            shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True, exist_ok=True)
        pattern = Path(path.removeprefix("file://"))
        files = sorted(pattern.parent.glob(pattern.name))
        if not files:
            raise FileNotFoundError(path)
        for file in files:
            copy = shutil.copytree if file.is_dir() else shutil.copy
            name = file.name if not (place / file.name).exists() else f"{file.name}_copy_{len(list(place.iterdir()))}"
            copy(file, place / name)
        if partition:
            self.spark.sql(f"ALTER TABLE {table} ADD IF NOT EXISTS PARTITION ({partition})")

    def _insert(self, insert: Insert) -> None:
        table = self.metastore.reads.get_table("default", insert.table)
        for name, why in self._tables.items():
            if why and re.search(rf"\b{re.escape(name)}\b", f"{insert.table} {insert.query}", re.IGNORECASE):
                raise ValueError(f"{name}: {why}")
        if table is None:
            raise ValueError(f"{insert.table} is not there")
        for keys, write in files_of(insert, table, self.spark.sql(insert.query)):
            place = (self.folder / insert.table).joinpath(*(f"{key}={value}" for key, value in keys.items()))
            if insert.overwrite:
                shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True, exist_ok=True)
            there = len(list(place.glob("*_0*")))
            write(place / ("000000_0" if not there else f"000000_0_copy_{there}"))
            if keys:
                named = ", ".join(f"`{key}`='{value}'" for key, value in keys.items())
                self.spark.sql(f"ALTER TABLE {insert.table} ADD IF NOT EXISTS PARTITION ({named})")

    def _try(self, text: str, define: Callable[[], object]) -> None:
        try:
            define()
        except (PySparkException, Py4JError, ConnectorError, OSError, ValueError, pa.ArrowException) as error:
            self._spoil(text, f"could not be made: {_short(error)}")

    def _spoil(self, text: str, reason: str) -> None:
        """Marks the tables that a statement writes, or may write, since what is in them now is not known."""
        made = _MADE.match(text)
        if made:
            self._tables[made[1].lower()] = reason
        for table in () if made else self._tables:
            if re.search(rf"\b{re.escape(table)}\b", text, re.IGNORECASE):
                self._tables[table] = self._tables[table] or reason

    def _query(self, text: str, lines: tuple[str, ...] | None) -> None:
        named = {table: why for table, why in self._tables.items() if re.search(rf"\b{table}\b", text, re.IGNORECASE)}
        reasons = [f"{table}: {why}" for table, why in named.items() if why]
        if lines is None or not named or reasons:
            reason = reasons[0] if reasons else "no table over data/files" if not named else "no answer is known"
            self._add(Kind.LEFT_OUT, text, reason)
        elif _CHOSEN.search(text) and not re.search(r"\border\s+by\b", text, re.IGNORECASE):
            self._add(Kind.LEFT_OUT, text, "rows are chosen in no order")
        elif _HIVES.search(text):
            self._add(Kind.LEFT_OUT, text, "hash() is another function in Spark")
        elif self._settings:
            self._add(Kind.LEFT_OUT, text, f"read with settings of Hive: {self._settings}")
        else:
            self._compare(text, lines[1:] if self._header else lines)

    def _compare(self, text: str, lines: tuple[str, ...]) -> None:
        try:
            found = self.spark.sql(text).toArrow()
        except (PySparkException, Py4JError, ConnectorError) as error:
            # Each error of ours names its code and the side that has to act.
            ours = "lakeport" in str(error).lower() or isinstance(error, ConnectorError)
            self._add(Kind.REFUSED if ours else Kind.NOT_SPARKS, text, _short(error))
            return
        try:
            expected = Counter(_row(line, found.schema) for line in lines)
        except (ValueError, ArithmeticError, KeyError) as error:
            self._add(Kind.LEFT_OUT, text, f"an answer that cannot be read: {_short(error)}")
            return
        mine = Counter(tuple(row) for row in canonical_rows(found).elements())
        if mine == expected:
            self._add(Kind.EQUAL, text, "")
        else:
            self._add(Kind.DIFFERENT, text, _differences(expected - mine, mine - expected, found.column_names))

    def _add(self, kind: Kind, query: str, detail: str) -> None:
        self.outcomes.append(Outcome(kind, " ".join(query.split()), detail))


def _row(line: str, schema: pa.Schema) -> tuple[object, ...]:
    cells = line.split("\t")
    if len(cells) != len(schema):
        raise ValueError(f"{len(cells)} cells in {line!r:.80}; expected {len(schema)}")
    return tuple(_value(cell, one.type) for cell, one in zip(cells, schema, strict=True))


def _differences(hive: Counter[Row], here: Counter[Row], names: Sequence[str]) -> str:
    """The cells that differ, of each row of Hive and the row here that is most like it; whole rows if none is."""
    left, cells = list(here.elements()), []
    for row in sorted(hive.elements(), key=repr):
        like = max(left, key=lambda one: sum(a == b for a, b in zip(row, one, strict=True)), default=None)
        if like is None or not any(a == b for a, b in zip(row, like, strict=True)):
            return f"only Hive {list(hive)[:3]}, only here {list(here)[:3]}"
        left.remove(like)
        found = [f"{name} {a!r} / {b!r}" for name, a, b in zip(names, row, like, strict=True) if a != b]
        cells.append(f"{row[0]!r}: {', '.join(found)}")
    return f"cells of Hive / here: {'; '.join(cells)}{f'; only here {left[:3]}' if left else ''}"


def _value(cell: str, arrow: pa.DataType) -> object:
    if pa.types.is_binary(arrow):
        return None if cell == "NULL" else cell.encode()
    return value_of_hive(None if cell == "NULL" else cell, arrow)


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
