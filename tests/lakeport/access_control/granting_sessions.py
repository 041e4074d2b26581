"""A catalog with ``hive.security=sql-standard`` over an embedded metastore, and sessions of users in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql import SparkSession

import lakeport
from connector_spi.security import Identity
from lakeport.catalog_session import AnySession

__all__ = ["Connect", "as_admin", "granting_catalog", "rows", "sessions"]

Connect: TypeAlias = Callable[[str], AnySession]


def granting_catalog(folder: Path) -> Path:
    """The directory of catalogs; ``root`` is in the role ``admin``."""
    catalogs = folder / "catalog"
    catalogs.mkdir()
    (catalogs / "hive.properties").write_text(
        "connector.name=hive\nhive.metastore=embedded\nhive.security=sql-standard\n"
        f"hive.metastore.embedded.path={folder}/metastore.db\n"
        "hive.metastore.embedded.users-in-admin-role=root\n"
    )
    return catalogs


@contextmanager
def sessions(catalogs: Path, spark: SparkSession | None = None) -> Iterator[Connect]:
    """What gives each user one session, of Spark where one is given, else of DuckDB."""
    opened: dict[str, AnySession] = {}
    with ExitStack() as stack:

        def connect(user: str) -> AnySession:
            if user not in opened:
                identity = Identity(user)
                if spark is None:
                    made: AnySession = lakeport.connect(catalogs=catalogs, engine="duckdb", identity=identity)
                else:
                    made = lakeport.connect(spark.newSession(), catalogs, identity=identity)
                opened[user] = stack.enter_context(made)
            return opened[user]

        yield connect


def as_admin(connect: Connect, *texts: str) -> None:
    """Runs statements as the administrator."""
    root = connect("root")
    root.plan("SET ROLE admin IN hive")
    for text in texts:
        rows(root, text)


def rows(session: AnySession, text: str) -> list[tuple[object, ...]]:
    """What a statement gives."""
    found = session.plan(text).rows()
    table = pa.Table.from_batches(list(found.batches), found.schema)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
