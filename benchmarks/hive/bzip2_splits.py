"""One text file compressed by bzip2: as one split, as several, and by Spark's own reader of CSV, which splits it."""

from __future__ import annotations

import bz2
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pyarrow as pa
import pyarrow.csv as csv

from benchmarks.data.tables import parts
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.turns import take_turns
from catalog.metastore.model import Database, FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from catalog.metastore.types import hive_type_text

__all__ = ["measure"]

_GROUP = "bzip2_splits"
_QUERY = "SELECT count(*), sum(quantity), max(remark) FROM {}"
_SIZE = "spark.lakeport.hive.max_split_size"


def measure(size: Size, folder: Path) -> list[Figure]:
    """The readers take turns; answers are compared."""
    rows, splits = size.of(1_000_000, 20_000), size.of(8, 2)
    (folder / "text").mkdir()
    file = folder / "text" / "000000_0.bz2"
    schema = _write(file, rows)
    most = str(file.stat().st_size // splits + 1)
    with open_lake(folder, {"spark.sql.files.maxPartitionBytes": most}) as lake:
        _register(lake, file.parent, schema)
        taken = take_turns(
            {
                "one split": _ours(lake, "1GB"),
                f"{splits} splits": _ours(lake, f"{most}B"),
                "Spark's own": _spark(lake, file.parent, schema),
            },
            size.of(3, 1),
        )
    assert len({str(one.answer) for one in taken.values()}) == 1, {name: one.answer for name, one in taken.items()}
    cut = taken[f"{splits} splits"]
    figures = []
    for name in ("one split", "Spark's own"):
        ratio = median(ours / other for ours, other in zip(cut.seconds, taken[name].seconds, strict=True))
        note = f"{rows:,} rows, {cut.note}, {name} {taken[name].note}"
        figures.append(Figure(_GROUP, f"{splits} splits, of {name}, seconds", ratio, "x", note=note))
    return figures


def _write(file: Path, rows: int) -> pa.Schema:
    schema = pa.schema([])
    options = csv.WriteOptions(include_header=False, delimiter="|", quoting_style="none")
    with bz2.open(file, "wb") as out:
        for part in parts(rows, max(1, rows // 100_000)):
            schema = part.schema
            csv.write_csv(part, out, options)
    return schema


def _register(lake: Lake, folder: Path, schema: pa.Schema) -> None:
    storage = StorageDescriptor(
        tuple(FieldSchema(field.name, hive_type_text(field.type)) for field in schema),
        f"file://{folder}",
        "org.apache.hadoop.mapred.TextInputFormat",
        serde=SerDeInfo("org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", Parameters.of({"field.delim": "|"})),
    )
    lake.hive.metastore.writes.create_database(Database("bench"))
    lake.hive.metastore.writes.create_table(
        Table("bench", "text", storage=storage, partition_keys=(), parameters=Parameters(), table_type="EXTERNAL_TABLE")
    )


def _ours(lake: Lake, most: str) -> Callable[[], list[tuple[object, ...]]]:
    def run() -> list[tuple[object, ...]]:
        lake.session.spark.conf.set(_SIZE, most)
        return lake.collect(_QUERY.format("hive.bench.text"))

    return run


def _spark(lake: Lake, folder: Path, schema: pa.Schema) -> Callable[[], list[tuple[object, ...]]]:
    declared = ", ".join(f"{field.name} {hive_type_text(field.type)}" for field in schema)
    reader = lake.session.spark.read.schema(declared).option("sep", "|")
    reader.csv(str(folder)).createOrReplaceTempView("text")
    return lambda: lake.collect(_QUERY.format("text"))


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
