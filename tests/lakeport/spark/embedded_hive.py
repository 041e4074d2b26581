"""A session over one Hive catalog of an embedded metastore."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

import lakeport
from lakeport import Session


@contextmanager
def embedded_hive(spark: SparkSession, folder: Path) -> Iterator[Session]:
    """The catalog ``hive`` with an empty schema ``s``; ``folder`` holds its properties and its metastore."""
    (folder / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={folder / 'm.db'}\n"
    )
    with lakeport.connect(spark.newSession(), folder) as opened:
        opened.sql("CREATE SCHEMA hive.s")
        yield opened
