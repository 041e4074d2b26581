"""Statistics that ``ANALYZE TABLE`` computes, in real metastores of Hive 3.1 to 4.2, as another client reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
from pyspark.sql import SparkSession

import lakeport
from connector_spi.names import SchemaTableName
from connector_spi.testing.writing import insert_rows
from lakeport import Session
from tests.connectors.hive.table_writer import create_table
from tests.integration.conftest import RunningRelease
from tests.integration.test_statistics import ROWS, Shop, shop
from tests.integration.test_transactional_inserts import Warehouse, warehouse

__all__ = ["shop", "warehouse"]

_KEYS = pytest.mark.parametrize("keys", [(), ("ds",)], ids=["flat", "partitioned"])


@contextmanager
def connected(spark: SparkSession, uri: str, folder: Path) -> Iterator[Session]:
    """A session over a metastore."""
    folder.mkdir()
    (folder / "hive.properties").write_text(f"connector.name=hive\nhive.metastore.uri={uri}\n")
    with lakeport.connect(spark.newSession(), folder) as session:
        yield session


def ids(client: ThriftHiveMetastore.Client, name: SchemaTableName, keys: tuple[str, ...]) -> set[tuple[int, ...]]:
    """Least and greatest value, NULLs and distinct values of the column id, of each partition."""
    partitions = ["ds=a", "ds=b"]
    if keys:
        asked = ttypes.PartitionsStatsRequest(name.schema, name.table, ["id"], partitions)
        found = [one for some in client.get_partitions_statistics_req(asked).partStats.values() for one in some]
    else:
        found = client.get_table_statistics_req(ttypes.TableStatsRequest(name.schema, name.table, ["id"])).tableStats
    known = [one.statsData.longStats for one in found]
    return {(one.lowValue, one.highValue, one.numNulls, one.numDVs) for one in known}


@_KEYS
def test_of_plain_tables(
    shop: Shop, metastore_release: RunningRelease, spark: SparkSession, tmp_path: Path, keys: tuple[str, ...]
) -> None:
    name = shop.name
    create_table(shop.hive.metastore, tmp_path, name.schema, name.table, ROWS, keys)
    with connected(spark, metastore_release.uri, tmp_path / "catalogs") as session:
        session.sql(f"ANALYZE TABLE hive.{name} COMPUTE STATISTICS")
        assert ids(shop.other, name, keys) == ({(1, 1, 0, 1), (2, 2, 0, 1)} if keys else {(1, 2, 0, 2)})
        if keys:
            shop.hive.metastore.writes.drop_partition_statistics(name.schema, name.table, ["id"], ["ds=a", "ds=b"])
        else:
            shop.hive.metastore.writes.drop_table_statistics(name.schema, name.table, ["id"])
    assert ids(shop.other, name, keys) == set()
    with lakeport.connect(catalogs=tmp_path / "catalogs", engine="duckdb") as local:
        local.sql(f"ANALYZE TABLE hive.{name} COMPUTE STATISTICS")
    assert ids(shop.other, name, keys) == ({(1, 1, 0, 1), (2, 2, 0, 1)} if keys else {(1, 2, 0, 2)})
    reads = shop.hive.metastore.reads
    table = reads.get_table(name.schema, name.table)
    assert table is not None
    partitions = reads.get_partitions_by_names(name.schema, name.table, ["ds=a", "ds=b"]) if keys else []
    found = [one.parameters for one in partitions] if keys else [table.parameters]
    assert [one["numRows"] for one in found] == (["1", "1"] if keys else ["2"])
    # Hive answers count(*) by counts that are said to be exact.
    assert not [one for one in found if "BASIC_STATS" in one.get("COLUMN_STATS_ACCURATE", "")]


@_KEYS
def test_of_transactional_tables(
    warehouse: Warehouse,
    transactional_release: RunningRelease,
    spark: SparkSession,
    tmp_path: Path,
    keys: tuple[str, ...],
) -> None:
    name = warehouse.create(f"analyzed_{len(keys)}", keys)
    insert_rows(warehouse.hive, name, [ROWS.select(["id", "ds"])])
    with connected(spark, transactional_release.uri, tmp_path / "catalogs") as session:
        session.sql(f"ANALYZE TABLE hive.{name} COMPUTE STATISTICS")
    assert ids(warehouse.other, name, keys) == ({(1, 1, 0, 1), (2, 2, 0, 1)} if keys else {(1, 2, 0, 2)})
    partitions = ["ds=a", "ds=b"]
    entries = (
        warehouse.other.get_partitions_by_names(name.schema, name.table, partitions)
        if keys
        else [warehouse.entry(name)]
    )
    counts = {(one.parameters["numRows"], one.parameters["numFiles"]) for one in entries}
    assert counts == ({("1", "1")} if keys else {("2", "1")})
    assert all("BASIC_STATS" not in one.parameters.get("COLUMN_STATS_ACCURATE", "") for one in entries)
