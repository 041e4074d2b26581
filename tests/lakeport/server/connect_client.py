"""A client of Spark Connect, in a process of its own: PySpark has one kind of session in a process."""

from __future__ import annotations

import json
import sys

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

__all__ = ["ask"]


def ask(url: str) -> dict[str, object]:
    """What a client sees at an address."""
    session = SparkSession.builder.remote(url).getOrCreate()
    found: dict[str, object] = {}
    found["catalogs before any statement"] = sorted(one.name for one in session.catalog.listCatalogs())
    session.catalog.setCurrentCatalog("hive")
    labels = session.table("sales.labels").filter("id < 3").orderBy("id").select("id", "s")
    found["rows"] = [list(row) for row in labels.collect()]
    told = session.sql("SELECT DISTINCT user FROM hive.system.metastore_calls WHERE user LIKE 'c%'")
    found["user"] = session.sql("SELECT current_user()").head()[0]  # type: ignore[index]
    found["user that the catalog is told"] = [row[0] for row in told.collect()]
    clone = session.cloneSession()  # type: ignore[attr-defined]
    found["rows in a clone"] = clone.sql("SELECT * FROM hive.sales.labels WHERE id < 3").count()
    clone.stop()
    other = session.newSession()
    found["current catalogs of two sessions"] = [one.catalog.currentCatalog() for one in (session, other)]
    found["rows in the other session"] = other.sql("SELECT * FROM hive.sales.labels WHERE id < 3").count()
    try:
        session.table("hive.sales.lables").collect()
    except PySparkException as error:
        found["mistyped"] = error.getCondition()
    try:
        session.sql("DELETE FROM hudi.sales.items").collect()
    except PySparkException as error:
        found["refused"] = "catalog 'hudi' does not write rows" in str(error)
    # Where the interpreter's end closes them, grpcio 1.85 waits forever.
    other.stop()
    session.stop()
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(ask(sys.argv[1])) + "\n")
