"""Joins of sorted buckets: no sort where the files prove their order, and the same answers in any case."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeport import Session
from tests.lakeport.spark.scan.partitioning.test_joins import (
    ARROW,
    JOIN,
    LEFT,
    RIGHT,
    TYPES,
    joined,
    location_of,
    run,
    settings,
)

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_numbers = count()


def sorted_table(
    session: Session, rows: Sequence[tuple[object, str]], *, key: str = "BIGINT", buckets: int = 4, parts: int = 1
) -> str:
    """A new table whose buckets have one file each in each partition, sorted by the key."""
    name = f"hive.s.sorted{next(_numbers)}"
    partitioned = "PARTITIONED BY (p)" if parts > 1 else ""
    session.sql(
        f"CREATE TABLE {name} (k {key}, v STRING, p INT) USING parquet {partitioned} CLUSTERED BY (k) SORTED BY (k) "
        f"INTO {buckets} BUCKETS"
    )
    keys = pa.array([None if k is None else ARROW[key](k) for k, _ in rows], TYPES[key])
    numbers = pa.array([n % parts for n in range(len(rows))], pa.int32())
    session.insert(name, pa.table({"k": keys, "v": [v for _, v in rows], "p": numbers}))
    return name


def sorts(session: Session, query: str) -> int:
    """How many sorts the plan of a query has."""
    plan = str(session.spark.sql(query)._jdf.queryExecution().executedPlan().toString())
    return plan.partition("== Initial Plan ==")[0].count("Sort [")


def rewrite(file: Path, rows: pa.Table, seconds: int) -> None:
    """Replaces a file by one of other rows, which is as old but for some seconds."""
    before = file.stat()
    pq.write_table(rows, file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + seconds * 10**9))
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


@pytest.mark.parametrize("key", ["BIGINT", "STRING", "DECIMAL(12, 3)"])
@pytest.mark.parametrize("native", ["true", "false"])
def test_sorted_buckets_are_joined_without_a_sort(session: Session, key: str, native: str) -> None:
    left, right = sorted_table(session, LEFT, key=key), sorted_table(session, RIGHT, key=key)
    plain = f"SELECT l.v, r.v FROM {left} l JOIN {right} r ON l.k = r.k"
    with settings(session, native_reader=native):
        rows, shuffles = run(session, plain)
        assert (sorts(session, plain), shuffles) == (0, 0)
    assert rows == Counter(row[1:] for row in joined(LEFT, RIGHT).elements())
    told = str(session.sql(f"EXPLAIN {plain}").collect())
    assert told.count("k ASC NULLS FIRST") >= 2


def test_what_is_not_proven_to_be_sorted_is_sorted(session: Session) -> None:
    left, right = sorted_table(session, LEFT), sorted_table(session, RIGHT)
    query, expected = JOIN.format(left, right), joined(LEFT, RIGHT)
    file = next(location_of(session, left).glob("000001_0*"))
    rows = pq.read_table(file)
    rewrite(file, rows.take(list(reversed(range(len(rows))))), 1)
    assert (run(session, query)[0], sorts(session, query)) == (expected, 1)
    rewrite(file, rows, 2)
    assert (run(session, query)[0], sorts(session, query)) == (expected, 0)
    # Two files of one bucket are in no order together.
    session.insert(left, pa.table({"k": [4], "v": ["more"], "p": pa.array([0], pa.int32())}))
    assert (run(session, query)[0], sorts(session, query)) == (joined([*LEFT, (4, "more")], RIGHT), 1)


def test_a_file_in_many_row_groups_keeps_its_order_in_one_task(session: Session) -> None:
    """And NULLs come first, in the first row groups alone."""
    left, right = sorted_table(session, LEFT), sorted_table(session, RIGHT)
    for file in location_of(session, left).glob("0*"):
        rows = pq.read_table(file)
        before = file.stat()
        pq.write_table(rows, file, row_group_size=7)
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    query = f"SELECT l.k, l.v, r.v FROM {left} l FULL JOIN {right} r ON l.k = r.k"
    session.spark.conf.set("spark.sql.files.maxPartitionBytes", "1kb")
    try:
        found, ordered = run(session, query)[0], sorts(session, query)
    finally:
        session.spark.conf.unset("spark.sql.files.maxPartitionBytes")
    with settings(session, storage_partitioning="NONE"):
        assert run(session, query)[0] == found
    assert ordered == 0


@pytest.mark.parametrize("counts", [(4, 8), (2, 6)])
def test_buckets_that_are_read_together_are_sorted(session: Session, counts: tuple[int, int]) -> None:
    """Where the tables have other numbers of buckets, Spark reads several of one table in one task."""
    left, right = (sorted_table(session, rows, buckets=n) for rows, n in zip((LEFT, RIGHT), counts, strict=True))
    query = JOIN.format(left, right)
    with settings(session, allowCompatibleTransforms="true", pushPartValues="true"):
        assert (run(session, query), sorts(session, query)) == ((joined(LEFT, RIGHT), 0), 1)


def test_buckets_of_several_partitions_are_sorted(session: Session) -> None:
    """A join by the bucket alone reads those of all partitions in one task."""
    left, right = sorted_table(session, LEFT, parts=3), sorted_table(session, RIGHT, parts=3)
    query = f"SELECT l.k, l.v, r.v FROM {left} l JOIN {right} r ON l.k = r.k WHERE l.p + r.p >= 0"
    with settings(session, pushPartValues="true", allowJoinKeysSubsetOfPartitionKeys="true"):
        assert (run(session, query), sorts(session, query)) == ((joined(LEFT, RIGHT), 0), 2)
