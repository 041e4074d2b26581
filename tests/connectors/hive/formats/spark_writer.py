"""Writes tables of Hive's formats by PySpark, and what PySpark itself reads from them. Runs as a program of its own.

A session with Hive's classes cannot be had beside the one that the tests share.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

__all__ = ["TABLES"]

_ROWS = """
    SELECT CAST(id AS int) id, CAST(id % 100 - 50 AS tinyint) ti, CAST(id * 37 - 9000 AS smallint) si,
      IF(id % 7 = 0, NULL, id * 12345678901) bi, CAST(id / 7 AS float) f, id / 3.0D d,
      CAST(id * 1.37 - 100 AS decimal(12, 3)) de, CAST(id AS decimal(38, 10)) / 3 wide,
      IF(id % 5 = 0, NULL, repeat(concat('é', id, ' '), CAST(id % 60 AS int))) s, CAST(concat('x', id) AS binary) bin,
      id % 3 = 0 b, date_add(DATE '1970-01-01', CAST(id * 101 - 20000 AS int)) dt,
      timestamp_micros(id * 86399999 * 1000 - 3000000000000) ts,
      transform(sequence(1, id % 40), x -> IF(x % 6 = 0, NULL, CAST(x * id AS int))) ar,
      map_from_entries(transform(sequence(1, 1 + id % 5), x -> struct(concat('k', x), CAST(x * id AS bigint)))) m,
      named_struct('x', CAST(id AS int), 'y', IF(id % 4 = 0, NULL, concat('y', id))) st,
      array(named_struct('k', concat('n', id), 'v', array(id, NULL, -id))) nested
    FROM range(0, 400, 1, 2)
"""
_CODEC = "org.apache.hadoop.io.compress."
_LZO = "io.airlift.compress.lzo."
_BINARY_ROWS = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.lazybinary.LazyBinarySerDe' STORED AS SEQUENCEFILE"
_TEXT_CELLS = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.columnar.ColumnarSerDe' STORED AS RCFILE"

TABLES: dict[str, tuple[str, str, str]] = {
    "seq": ("STORED AS SEQUENCEFILE", "", ""),
    "seq_record_gzip": ("STORED AS SEQUENCEFILE", "GzipCodec", "RECORD"),
    "seq_block_bzip2": ("STORED AS SEQUENCEFILE", "BZip2Codec", "BLOCK"),
    "seq_block_snappy": (_BINARY_ROWS, "SnappyCodec", "BLOCK"),
    "seq_block_lz4": (_BINARY_ROWS, "Lz4Codec", "BLOCK"),
    "rc": ("STORED AS RCFILE", "", ""),
    "rc_snappy": ("STORED AS RCFILE", "SnappyCodec", "BLOCK"),
    "rc_text_gzip": (_TEXT_CELLS, "GzipCodec", "BLOCK"),
    "rc_lzo": ("STORED AS RCFILE", f"{_LZO}LzoCodec", "BLOCK"),
    "seq_block_lzo": (_BINARY_ROWS, f"{_LZO}LzoCodec", "BLOCK"),
    "text_lzo": ("STORED AS TEXTFILE", f"{_LZO}LzopCodec", "BLOCK"),
    "text_bzip2": ("STORED AS TEXTFILE", "BZip2Codec", "BLOCK"),
    "avro": ("STORED AS AVRO", "", ""),
    "avro_snappy": ("STORED AS AVRO", "snappy", ""),
}
"""How each table is stored, its codec, and what SequenceFiles compress."""

_ONE_FILE = "SELECT /*+ COALESCE(1) */ rows.* FROM rows CROSS JOIN range(24)"


def main(folder: Path) -> None:
    """Writes ``tables/NAME`` and ``expected/NAME`` for all of ``TABLES`` into a folder."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.hadoop.javax.jdo.option.ConnectionURL", "jdbc:derby:memory:formats;create=true")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
        .config("spark.hadoop.io.compression.codecs", f"{_LZO}LzoCodec,{_LZO}LzopCodec")
        .enableHiveSupport()
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    spark.sql(_ROWS).createOrReplaceTempView("rows")
    for name, (stored, codec, kind) in TABLES.items():
        spark.sql(f"SET hive.exec.compress.output={'true' if codec else 'false'}")
        spark.sql(f"SET avro.output.codec={codec or 'null'}")
        if codec and kind:
            spark.sql(
                f"SET mapreduce.output.fileoutputformat.compress.codec={codec if '.' in codec else _CODEC + codec}"
            )
            spark.sql(f"SET mapreduce.output.fileoutputformat.compress.type={kind}")
        columns = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in spark.table("rows").schema)
        spark.sql(f"CREATE TABLE {name} ({columns}) {stored} LOCATION '{folder}/tables/{name}'")
        # One file of many blocks.
        spark.sql(f"INSERT INTO {name} {_ONE_FILE if name == 'text_bzip2' else 'SELECT * FROM rows'}")
        spark.table(name).coalesce(1).write.parquet(str(folder / "expected" / name))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
