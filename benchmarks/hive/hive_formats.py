"""Tables of every format of Hive, written by Spark: full and selective scans, against Spark's own readers of the files.

Spark reads ORC and Parquet by its own readers, JSON by ``spark.read.json``, all others by Hive's SerDes. Its Hive comes
without a SerDe for JSON: where ``BENCHMARK_JSON_SERDE`` names a folder with the jars ``hive-hcatalog-core`` 2.3.10,
``jackson-core-asl`` and ``jackson-mapper-asl`` 1.9.13, JSON is compared with that, too. The scan of all columns ends in
a sink that takes rows and does nothing with them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.processes import forget_peaks, peak_of_python_tasks
from benchmarks.harness.turns import Taken, take_turns
from catalog.metastore.model import Database, FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table

__all__ = ["measure"]

_GROUP = "hive_formats"
_ROWS = """
    SELECT id, CAST(id % 1000 AS int) k, IF(id % 11 = 0, NULL, CAST(hash(id) AS int)) n, id / 7.0D d,
      CAST(id * 1.37 AS decimal(14, 2)) price, concat('region ', id % 50) region,
      IF(id % 13 = 0, NULL, concat('customer number ', hash(id, 1))) customer, id % 3 = 0 flag,
      date_add(DATE '2000-01-01', CAST(id % 9000 AS int)) day,
      timestamp_micros(id * 1234567 + 946684800000000) at
    FROM range(0, {rows}, 1, {files})
"""
_SERDE = "org.apache.hadoop.hive.serde2."
_IO = "org.apache.hadoop.hive.ql.io."
_TEXT = "org.apache.hadoop.mapred.TextInputFormat"


@dataclass(frozen=True, slots=True)
class _Format:
    """How a table is stored, in the words of CREATE TABLE and in those of a metastore, and what is aimed at."""

    stored: str
    input_format: str
    serde: str
    aim: float | None
    properties: Mapping[str, str] = field(default_factory=dict)
    rounds: int = 5


# Of queries that Java alone answers in a third of a second: it takes some ten of them until it runs compiled code.
_SHORT = 21
_FORMATS = {
    "orc": _Format("STORED AS ORC", f"{_IO}orc.OrcInputFormat", f"{_IO}orc.OrcSerde", 1.2, rounds=_SHORT),
    "parquet": _Format(
        "STORED AS PARQUET",
        f"{_IO}parquet.MapredParquetInputFormat",
        f"{_IO}parquet.serde.ParquetHiveSerDe",
        1.2,
        rounds=_SHORT,
    ),
    "text": _Format(
        "ROW FORMAT DELIMITED FIELDS TERMINATED BY '|'",
        _TEXT,
        f"{_SERDE}lazy.LazySimpleSerDe",
        1.0,
        {"field.delim": "|"},
    ),
    "text_escaped": _Format(
        r"ROW FORMAT DELIMITED FIELDS TERMINATED BY '|' ESCAPED BY '\\'",
        _TEXT,
        f"{_SERDE}lazy.LazySimpleSerDe",
        1.0,
        {"field.delim": "|", "escape.delim": "\\"},
    ),
    "csv": _Format(f"ROW FORMAT SERDE '{_SERDE}OpenCSVSerde'", _TEXT, f"{_SERDE}OpenCSVSerde", 1.0),
    "json": _Format("", _TEXT, f"{_SERDE}JsonSerDe", None),
    "avro": _Format("STORED AS AVRO", f"{_IO}avro.AvroContainerInputFormat", f"{_SERDE}avro.AvroSerDe", 1.0),
    "rcfile": _Format("STORED AS RCFILE", f"{_IO}RCFileInputFormat", f"{_SERDE}columnar.LazyBinaryColumnarSerDe", 2.0),
    "sequence": _Format(
        "STORED AS SEQUENCEFILE",
        "org.apache.hadoop.mapred.SequenceFileInputFormat",
        f"{_SERDE}lazy.LazySimpleSerDe",
        2.0,
    ),
}
_HCATALOG = "org.apache.hive.hcatalog.data.JsonSerDe"
_JSON_SERDE = _Format(f"ROW FORMAT SERDE '{_HCATALOG}'", _TEXT, _HCATALOG, 1.0)

Run = Callable[[], object]


def measure(size: Size, folder: Path) -> list[Figure]:
    """Each format's contenders take turns; answers are compared."""
    rows = size.of(1_500_000, 5_000)
    settings = {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:formats;create=true",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": f"-Duser.timezone=UTC -Dderby.system.home={folder}",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    }
    formats = dict(_FORMATS)
    if jars := os.environ.get("BENCHMARK_JSON_SERDE"):
        settings["spark.driver.extraClassPath"] = str(Path(jars, "*"))
        formats["json_serde"] = _JSON_SERDE
    figures = []
    with open_lake(folder, settings) as lake:
        lake.hive.metastore.writes.create_database(Database("bench"))
        lake.session.spark.sql(_ROWS.format(rows=rows, files=size.of(4, 2))).createOrReplaceTempView("written")
        for name, kind in formats.items():
            _write(lake, folder / "tables" / name, name, kind)
            full, selective, alone = _contenders(lake, name, rows)
            rounds = size.of(kind.rounds, 1)
            forget_peaks()
            figures += _figures(f"{name}, all columns", rows, take_turns({**full, **alone}, rounds), kind.aim)
            figures += _figures(f"{name}, 1 row of 2,000", rows, take_turns(selective, rounds), kind.aim)
            if (peak := peak_of_python_tasks()) is not None:
                figures.append(Figure(_GROUP, f"{name}, most memory of a Python task", peak, "MB"))
    return figures


def _write(lake: Lake, place: Path, name: str, kind: _Format) -> None:
    spark, given = lake.session.spark, lake.session.spark.table("written")
    types = [(one.name, "string" if name == "csv" else one.dataType.simpleString()) for one in given.schema]
    columns = ", ".join(f"{column} {text}" for column, text in types)
    if kind.stored:
        spark.sql(f"CREATE TABLE spark_catalog.default.t_{name} ({columns}) {kind.stored} LOCATION '{place}'")
        texts = ", ".join(f"CAST({column} AS string)" for column, _ in types)
        spark.sql(f"INSERT INTO spark_catalog.default.t_{name} SELECT {texts if name == 'csv' else '*'} FROM written")
    else:
        # JsonSerDe knows times as Hive writes them.
        given.write.option("timestampFormat", "yyyy-MM-dd HH:mm:ss.SSSSSS").json(str(place))
        read = spark.read.schema(given.schema).option("timestampFormat", "yyyy-MM-dd HH:mm:ss.SSSSSS")
        read.json(str(place)).createOrReplaceTempView(f"t_{name}")
    storage = StorageDescriptor(
        tuple(FieldSchema(column, text) for column, text in types),
        f"file://{place}",
        kind.input_format,
        serde=SerDeInfo(kind.serde, Parameters.of(kind.properties)),
    )
    lake.hive.metastore.writes.create_table(
        Table("bench", name, storage=storage, partition_keys=(), parameters=Parameters(), table_type="EXTERNAL_TABLE")
    )


def _contenders(lake: Lake, name: str, rows: int) -> tuple[dict[str, Run], dict[str, Run], dict[str, Run]]:
    spark = lake.session.spark
    tables = {
        "lakeport": f"hive.bench.{name}",
        "spark": f"t_{name}" if name == "json" else f"spark_catalog.default.t_{name}",
    }
    least = f"'{rows // 2}'" if name == "csv" else str(rows // 2)
    # Not the order of the files, so that their statistics leave little out.
    seven = "'7'" if name == "csv" else "7"
    query = f"SELECT count(*), count(n), max(d), max(customer) FROM {{}} WHERE k = {seven} AND id > {least}"

    def arrow() -> int:
        with lake.session.arrow(tables["lakeport"]) as reader:
            return sum(batch.num_rows for batch in reader)

    def into_nothing(table: str) -> Run:
        return lambda: spark.table(table).write.format("noop").mode("overwrite").save()

    full = {who: into_nothing(table) for who, table in tables.items()}
    selective: dict[str, Run] = {
        who: lambda table=table: lake.collect(query.format(table))  # type: ignore[misc]
        for who, table in tables.items()
    }
    return full, selective, {"arrow": arrow}


def _figures(what: str, rows: int, taken: Mapping[str, Taken[object]], aim: float | None) -> list[Figure]:
    ours, theirs = taken["lakeport"], taken["spark"]
    assert ours.answer == theirs.answer, f"{what}: {ours.answer} and {theirs.answer}"
    ratios = {
        "seconds": [one / other for one, other in zip(ours.seconds, theirs.seconds, strict=True)],
        "CPU": [one / max(other, 0.01) for one, other in zip(ours.cpu, theirs.cpu, strict=True)],
    }
    note = f"{median(ours.seconds):.2f} s, Spark {median(theirs.seconds):.2f} s"
    figures = [Figure(_GROUP, f"{what}, rows per second", rows / median(ours.seconds), "rows/s", note=note)]
    for name, values in ratios.items():
        figures.append(Figure(_GROUP, f"{what}, of Spark's own, {name}", median(values), "x", aim))
    if "arrow" in taken:
        speed = rows / median(taken["arrow"].seconds)
        figures.append(Figure(_GROUP, f"{what}, without Spark, rows per second", speed, "rows/s"))
    return figures


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
