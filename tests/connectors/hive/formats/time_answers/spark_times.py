"""Writes Parquet files with old times by Spark in its legacy calendar, and what Spark shows of them.

Written with Spark 4.3.0 in New York: TZ=America/New_York python spark_times.py FOLDER.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from pyspark.sql import SparkSession

_ZONE = "America/New_York"
_TIMES = (
    "0001-01-02 00:00:00",
    "1200-02-28 06:00:00",
    "1500-03-01 01:02:03",
    "1582-10-04 12:00:00",
    "1582-10-16 12:00:00",
    "1700-01-01 00:00:00",
    "1883-11-18 12:01:00",
    "1899-12-31 10:00:00",
    "1900-01-01 12:00:00",
    "1911-01-01 00:00:00",
    "1969-12-31 14:00:00.5",
    "2024-07-01 12:00:00",
    "2099-07-01 00:00:00",
    "9999-07-01 12:00:00.5",
)


def main(folder: Path) -> None:
    """Writes the files and the answers into a folder."""
    builder = SparkSession.builder.master("local[1]").config("spark.sql.session.timeZone", _ZONE)
    spark = builder.config("spark.driver.extraJavaOptions", f"-Duser.timezone={_ZONE}").getOrCreate()
    rows = ", ".join(f"({at}, '{time}')" for at, time in enumerate(_TIMES))
    columns = "id, cast(v as timestamp) a, to_timestamp_ntz(v) n, cast(substr(v, 1, 10) as date) d"
    table = spark.sql(f"SELECT {columns} FROM VALUES {rows} AS t(id, v)").coalesce(1)
    spark.conf.set("spark.sql.parquet.int96RebaseModeInWrite", "LEGACY")
    spark.conf.set("spark.sql.parquet.datetimeRebaseModeInWrite", "LEGACY")
    for name, kind in (("spark_int96", "INT96"), ("spark_micros", "TIMESTAMP_MICROS")):
        spark.conf.set("spark.sql.parquet.outputTimestampType", kind)
        written = folder / name
        table.write.mode("overwrite").parquet(str(written))
        shown = (
            spark.read.parquet(str(written)).orderBy("id").selectExpr("id", *(f"string({one}) {one}" for one in "and"))
        )
        answers = "".join(json.dumps(row.asDict()) + "\n" for row in shown.collect())
        (folder / f"{name}.json").write_text(answers)
        shutil.move(next(written.glob("*.parquet")), folder / f"{name}.parquet")
        shutil.rmtree(written)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
