"""Joins by buckets and partition keys: no shuffle where files prove it, and the same answers in any case."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import cast

import pyarrow as pa
import pytest

from connectors.hive.connector import HiveConnector
from lakeport import Session
from tests.connectors.hive.table_writer import create_table
from tests.hive_corpus import expected_answer, register_cases, require_corpus
from tests.lakeport.spark.scan.partitioning.conftest import BUCKETING

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_KINDS = {
    "parquet": ("USING parquet", ""),
    "text": ("STORED AS TEXTFILE", ""),
    "full": ("USING orc", ", 'transactional' = 'true'"),
    "insert_only": ("USING parquet", ", 'transactional' = 'true', 'transactional_properties' = 'insert_only'"),
}
TYPES = {
    "BIGINT": pa.int64(),
    "INT": pa.int32(),
    "BOOLEAN": pa.bool_(),
    "DECIMAL(12, 3)": pa.decimal128(12, 3),
    "DATE": pa.date32(),
    "DOUBLE": pa.float64(),
}
TYPES |= dict.fromkeys(("STRING", "CHAR(6)", "VARCHAR(5)"), pa.string())
ARROW: dict[str, Callable[[object], object]] = {name: lambda k: k for name in TYPES}
ARROW |= dict.fromkeys(("STRING", "CHAR(6)", "VARCHAR(5)"), str)
ARROW["DECIMAL(12, 3)"] = lambda k: Decimal(str(k))
LEFT = [(None if n % 17 == 0 else n % 90, f"l{n}") for n in range(240)]
RIGHT = [(None if n % 13 == 0 else n * 2, f"r{n}") for n in range(70)]
_numbers = count()


@contextmanager
def settings(session: Session, **texts: str) -> Iterator[None]:
    """Settings of Spark's bucketing, or of the catalog, in the block."""
    names = {}
    for name, text in texts.items():
        full = f"{BUCKETING}{name}" if name == "enabled" else f"{BUCKETING}{name}.enabled"
        names[f"spark.lakeport.hive.{name}" if "_" in name else full] = text
    before = {name: session.spark.conf.get(name, None) for name in names}
    for name, text in names.items():
        session.spark.conf.set(name, text)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                session.spark.conf.unset(name)
            else:
                session.spark.conf.set(name, old)


def run(session: Session, query: str) -> tuple[Counter[tuple[object, ...]], int]:
    """The rows of a query, and how many shuffles its plan had."""
    frame = session.spark.sql(query)
    rows = Counter(tuple(row) for row in frame.collect())
    plan = str(frame._jdf.queryExecution().executedPlan().toString())
    final = plan.partition("== Initial Plan ==")[0]
    return rows, final.count("Exchange hashpartitioning") + final.count("Exchange SinglePartition")


def bucketed(
    session: Session,
    folder: Path,
    rows: Sequence[tuple[object, str]],
    *,
    kind: str = "parquet",
    buckets: int = 4,
    version: int = 2,
    key: str = "BIGINT",
) -> str:
    """A new table with the columns ``k`` and ``v``, in buckets of ``k``."""
    number = next(_numbers)
    location = folder / f"t{number}"
    location.mkdir()
    name = f"hive.s.t{number}"
    stored, properties = _KINDS[kind]
    session.sql(
        f"CREATE TABLE {name} (k {key}, v STRING) {stored} LOCATION '{location}' TBLPROPERTIES "
        f"('bucketed_by' = 'k', 'bucket_count' = '{buckets}', 'bucketing_version' = '{version}'{properties})"
    )
    for part in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
        keys = pa.array([None if k is None else ARROW[key](k) for k, _ in part], TYPES[key])
        session.insert(name, pa.table({"k": keys, "v": pa.array([v for _, v in part], pa.string())}))
    return name


def location_of(session: Session, name: str) -> Path:
    schema, table = name.split(".")[1:]
    found = cast(HiveConnector, session.catalogs.get("hive")).metastore.reads.get_table(schema, table)
    assert found is not None
    assert found.storage.location is not None
    return Path(found.storage.location.removeprefix("file:"))


def joined(left: Sequence[tuple[object, str]], right: Sequence[tuple[object, str]]) -> Counter[tuple[object, ...]]:
    return Counter((k, v, w) for k, v in left for other, w in right if k is not None and k == other)


JOIN = "SELECT l.k, l.v, r.v FROM {} l JOIN {} r ON l.k = r.k"


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("kind", list(_KINDS))
def test_tables_in_equal_buckets_are_joined_where_they_lie(
    session: Session, folder: Path, kind: str, version: int
) -> None:
    left = bucketed(session, folder, LEFT, kind=kind, version=version)
    right = bucketed(session, folder, RIGHT, kind=kind, version=version)
    expected = joined(LEFT, RIGHT)
    assert run(session, JOIN.format(left, right)) == (expected, 0)
    with settings(session, native_reader="false"):
        assert run(session, JOIN.format(left, right)) == (expected, 0)
    outer = f"SELECT l.k, l.v, r.v FROM {left} l FULL JOIN {right} r ON l.k = r.k"
    matched = {k for k, _ in LEFT if k is not None} & {k for k, _ in RIGHT}
    without: list[tuple[object, ...]] = [(k, v, None) for k, v in LEFT if k not in matched]
    without += [(None, None, w) for k, w in RIGHT if k not in matched]
    assert run(session, outer) == (expected + Counter(without), 0)
    anti = f"SELECT v FROM {left} l WHERE NOT EXISTS (SELECT 1 FROM {right} r WHERE r.k = l.k)"
    assert run(session, anti) == (Counter((v,) for k, v in LEFT if k not in matched), 0)
    groups = f"SELECT k, count(*), max(v) FROM {left} GROUP BY k"
    counts = Counter(k for k, _ in LEFT)
    found, _ = run(session, groups)
    assert {row[0]: row[1] for row in found} == counts


@pytest.mark.parametrize("off", [{"enabled": "false"}, {"storage_partitioning": "NONE"}, {"bucket_execution": "false"}])
def test_settings_that_say_no_have_rows_shuffled(session: Session, folder: Path, off: dict[str, str]) -> None:
    left, right = bucketed(session, folder, LEFT), bucketed(session, folder, RIGHT)
    with settings(session, **off):
        assert run(session, JOIN.format(left, right)) == (joined(LEFT, RIGHT), 2)


def test_explain_says_by_what_rows_lie(session: Session, folder: Path) -> None:
    left, right = bucketed(session, folder, LEFT), bucketed(session, folder, RIGHT)
    told = session.sql(f"EXPLAIN {JOIN.format(left, right)}").collect()
    assert str(told).count("bucket(4, k)") >= 2
    with settings(session, storage_partitioning="NONE"):
        told = session.sql(f"EXPLAIN {JOIN.format(left, right)}").collect()
        assert "bucket(4, k)" not in str(told)


@pytest.mark.parametrize("counts", [(4, 8), (6, 4), (2, 6)])
def test_other_numbers_of_buckets_are_reduced_to_what_they_share(
    session: Session, folder: Path, counts: tuple[int, int]
) -> None:
    left = bucketed(session, folder, LEFT, buckets=counts[0])
    right = bucketed(session, folder, RIGHT, buckets=counts[1], kind="full")
    assert run(session, JOIN.format(left, right)) == (joined(LEFT, RIGHT), 2)
    with settings(session, allowCompatibleTransforms="true", pushPartValues="true"):
        assert run(session, JOIN.format(left, right)) == (joined(LEFT, RIGHT), 0)


def test_empty_buckets_and_buckets_that_a_filter_leaves_out(session: Session, folder: Path) -> None:
    few = [(n, f"f{n}") for n in (1, 2)]
    left, right = bucketed(session, folder, LEFT, buckets=8), bucketed(session, folder, few, buckets=8)
    empty = bucketed(session, folder, few, buckets=8)
    session.sql(f"TRUNCATE TABLE {empty}")
    for first, second in ((LEFT, few), (few, LEFT)):
        names = {id(LEFT): left, id(few): right}
        assert run(session, JOIN.format(names[id(first)], names[id(second)]))[0] == joined(first, second)
    kept = [row for row in LEFT if row[0] in (1, 2, 5)]
    assert run(session, JOIN.format(left, right) + " WHERE l.k IN (1, 2, 5)")[0] == joined(kept, few)
    assert run(session, JOIN.format(left, empty))[0] == Counter()
    outer = f"SELECT l.k, l.v, r.v FROM {left} l LEFT JOIN {empty} r ON l.k = r.k"
    assert run(session, outer)[0] == Counter((k, v, None) for k, v in LEFT)


@pytest.mark.parametrize("key", ["STRING", "CHAR(6)", "VARCHAR(5)", "DECIMAL(12, 3)", "INT", "BOOLEAN"])
@pytest.mark.parametrize("version", [1, 2])
def test_keys_of_all_types_meet_their_like(session: Session, folder: Path, key: str, version: int) -> None:
    def valued(rows: Sequence[tuple[object, str]]) -> list[tuple[object, str]]:
        def value(k: object) -> object:
            return k is not None and cast(int, k) % 3 == 0 if key == "BOOLEAN" else k

        return [(None if k is None else value(k), v) for k, v in rows]

    left = bucketed(session, folder, valued(LEFT), key=key, version=version)
    right = bucketed(session, folder, valued(RIGHT), key=key, version=version)
    plain = f"SELECT l.v, r.v FROM {left} l JOIN {right} r ON l.k = r.k"
    expected = Counter(row[1:] for row in joined(valued(LEFT), valued(RIGHT)).elements())
    rows, shuffles = run(session, plain)
    assert rows == expected
    assert shuffles == 0 or key.startswith("CHAR"), "Spark pads what it compares with a CHAR"


@pytest.mark.parametrize("key", ["DOUBLE", "DATE"])
def test_keys_whose_hash_is_not_sure_are_shuffled(session: Session, folder: Path, key: str) -> None:
    value = "CAST(0.0 AS DOUBLE)" if key == "DOUBLE" else "DATE '2020-01-01'"
    other = "CAST('-0.0' AS DOUBLE)" if key == "DOUBLE" else value
    left, right = (bucketed(session, folder, [(None, "a"), (None, "b")], key=key) for _ in range(2))
    session.sql(f"INSERT INTO {left} VALUES ({value}, 'x')")
    session.sql(f"INSERT INTO {right} VALUES ({other}, 'y')")
    rows, shuffles = run(session, f"SELECT l.v, r.v FROM {left} l JOIN {right} r ON l.k = r.k")
    assert (rows, shuffles) == (Counter([("x", "y")]), 2)


def test_files_in_the_wrong_bucket_have_rows_shuffled(session: Session, folder: Path) -> None:
    left, right = bucketed(session, folder, LEFT), bucketed(session, folder, RIGHT)
    where = location_of(session, left)
    first, second = (next(where.glob(f"00000{n}_0*")) for n in (0, 1))
    swapped = where / "swap"
    first.rename(swapped)
    second.rename(first)
    swapped.rename(second)
    assert run(session, JOIN.format(left, right)) == (joined(LEFT, RIGHT), 2)


def test_files_with_no_bucket_in_their_names_have_rows_shuffled(session: Session, folder: Path) -> None:
    left, right = bucketed(session, folder, LEFT), bucketed(session, folder, RIGHT)
    file = next(location_of(session, left).glob("000000_0*"))
    file.rename(file.with_name("part-0"))
    assert run(session, JOIN.format(left, right)) == (joined(LEFT, RIGHT), 2)


def test_rows_that_spark_bucketed_itself_are_shuffled(session: Session, folder: Path) -> None:
    """Into a table of Hive's with buckets of version 2, files of Spark have names by the hash of version 1."""
    left, right = bucketed(session, folder, LEFT), bucketed(session, folder, RIGHT)
    for file in sorted(location_of(session, left).glob("0*")):
        number = file.name.partition("_")[0]
        file.rename(file.with_name(f"{number}_0_part-{file.name}"))
    assert run(session, JOIN.format(left, right)) == (joined(LEFT, RIGHT), 2)


def test_one_side_alone_is_shuffled_to_the_buckets_of_the_other(session: Session, folder: Path) -> None:
    """Spark computes the buckets of its own rows: by the hash that the files have."""
    for kind, version in (("full", 2), ("parquet", 1)):
        left = bucketed(session, folder, LEFT, kind=kind, version=version)
        session.spark.createDataFrame(RIGHT, "k BIGINT, v STRING").createOrReplaceTempView("own_rows")
        with settings(session, shuffle="true"):
            assert run(session, JOIN.format(left, "own_rows")) == (joined(LEFT, RIGHT), 0)


def test_parts_of_a_bucket_are_joined_apart_where_spark_may(session: Session, folder: Path) -> None:
    left, right = bucketed(session, folder, LEFT), bucketed(session, folder, RIGHT)
    with settings(session, pushPartValues="true", partiallyClusteredDistribution="true"):
        assert run(session, JOIN.format(left, right)) == (joined(LEFT, RIGHT), 0)


def test_changed_rows_are_joined_where_they_lie_now(session: Session, folder: Path) -> None:
    left, right = bucketed(session, folder, LEFT, kind="full"), bucketed(session, folder, RIGHT, kind="full")
    session.sql(f"UPDATE {left} SET k = k + 7 WHERE k % 3 = 0")
    session.sql(f"DELETE FROM {right} WHERE k < 20")
    changed = [(k if k is None or k % 3 else k + 7, v) for k, v in LEFT]
    rest = [(k, w) for k, w in RIGHT if k is None or k >= 20]
    assert run(session, JOIN.format(left, right)) == (joined(changed, rest), 0)


_KEYED = pa.table(
    {"v": [f"v{n}" for n in range(60)], "p": pa.array([None if n % 7 == 3 else n % 5 for n in range(60)], pa.int32())}
)
_OTHER = pa.table({"w": [f"w{n}" for n in range(12)], "p": pa.array([n % 6 for n in range(12)], pa.int32())})


def keyed(session: Session, folder: Path, rows: pa.Table) -> str:
    """A new table with the partition key ``p``."""
    name = f"p{next(_numbers)}"
    metastore = cast(HiveConnector, session.catalogs.get("hive")).metastore
    create_table(metastore, folder, "s", name, rows, ["p"])
    return f"hive.s.{name}"


@pytest.mark.parametrize("native", ["true", "false"])
def test_partitions_are_joined_by_their_keys(session: Session, folder: Path, native: str) -> None:
    left, right = keyed(session, folder, _KEYED), keyed(session, folder, _OTHER)
    expected = Counter(
        (one["v"], other["w"]) for one in _KEYED.to_pylist() for other in _OTHER.to_pylist() if one["p"] == other["p"]
    )
    query = f"SELECT l.v, r.w FROM {left} l JOIN {right} r ON l.p = r.p"
    with settings(session, native_reader=native, pushPartValues="true"):
        assert run(session, query) == (expected, 0)
        # A join that leaves partitions out while it runs.
        pruned = f"{query} WHERE r.w IN ('w1', 'w2', 'w7')"
        kept = Counter({row: n for row, n in expected.items() if row[1] in ("w1", "w2", "w7")})
        assert run(session, pruned)[0] == kept
        assert run(session, f"{query} WHERE r.w = 'none'")[0] == Counter()
    nulls = f"SELECT l.v FROM {left} l LEFT ANTI JOIN {right} r ON l.p = r.p"
    assert run(session, nulls)[0] == Counter((one["v"],) for one in _KEYED.to_pylist() if one["p"] is None)


def test_joins_that_pay_alone_go_by_buckets_unless_told_otherwise(session: Session, folder: Path) -> None:
    """Of two small tables a task for each bucket costs more than it spares; one table alone has no one to join."""
    wide = [(n, os.urandom(6_000).hex()) for n in range(400)]
    small, large = bucketed(session, folder, RIGHT, buckets=2), bucketed(session, folder, RIGHT, buckets=2)
    with settings(session, storage_partitioning="AUTOMATIC"):
        assert run(session, JOIN.format(small, large))[1] == 2
    for name in (small, large):
        session.insert(name, pa.table({"k": [k for k, _ in wide], "v": [v for _, v in wide]}))
    query = f"SELECT count(*) FROM {small} l JOIN {large} r ON l.k = r.k"
    with settings(session, storage_partitioning="AUTOMATIC"):
        rows, shuffles = run(session, query)
        assert shuffles == 1, "the count alone"
        alone = f"SELECT k, count(v) FROM {small} GROUP BY k"
        assert run(session, alone)[1] == 1
    with settings(session, storage_partitioning="NONE"):
        assert run(session, query) == (rows, 3)


@pytest.mark.corpus
def test_hives_own_buckets_are_joined_where_they_lie(session: Session, folder: Path, tmp_path: Path) -> None:
    """Each row with itself: Hive wrote the files, and its answer has the rows."""
    require_corpus()
    metastore = cast(HiveConnector, session.catalogs.get("hive")).metastore
    cases = {"acid_bucketed": "id", "converted_bucketed": "id", "ext_bucketed_v2": "s"}
    register_cases(metastore.writes, "corpus", tuple(cases), metastore.transactions)
    for case, key in cases.items():
        names = [one[0] for one in session.sql(f"DESCRIBE hive.corpus.{case}").collect()]
        at = names.index(key)
        found = Counter(row[at] for row in expected_answer(case).rows.elements() if row[at] is not None)
        query = f"SELECT l.{key} FROM hive.corpus.{case} l JOIN hive.corpus.{case} r ON l.{key} = r.{key}"
        rows, shuffles = run(session, query)
        assert rows == Counter({(value,): n * n for value, n in found.items()}), case
        assert shuffles == 0, case
