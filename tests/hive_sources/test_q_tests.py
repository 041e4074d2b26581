"""Hive's q-tests over its ``data/files``, and those that replace columns, run here and compared with Hive's answers.

``LAKEPORT_HIVE_SOURCES`` names a checkout of Hive. Nothing of it is copied into the project, so the tests are left out
where it is not set. With ``-rA`` each q-test says which of its queries were refused or left out, and why.

Compared so far:

- a distribution of Hive 2.1: all;
- one of Hive 3.1.3 with readers of Hive 4.0: those about formats, types and columns, 338 of 2,300, 950 answers equal;
  what differs is in ``KNOWN``.
  The answers of ``type_change_test_fraction``, ``avro_legacy_mixed_date``, ``avro_legacy_mixed_timestamp``,
  ``avro_historical_timestamp`` and ``char_join1`` are those of Apache Hive: files of the same length, read
  where they differ here. Its queries have settings of readers as comments (``-- set hive.avro...``), although the
  answers are those with the settings; Apache's have statements;
- Apache Hive as a whole: not compared.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connectors.hive.connector import HiveConnector, HivePlugin
from lakeport.spark.catalog.install import install
from tests.hive_sources.known import KNOWN
from tests.hive_sources.q_tests import q_test_names, q_test_zone, read_q_test
from tests.hive_sources.replay import Kind, Replay

_VARIABLE = "LAKEPORT_HIVE_SOURCES"
_SOURCES = Path(os.environ.get(_VARIABLE, ""))
_NAMES = q_test_names(_SOURCES) if _VARIABLE in os.environ else []

_OWN_Q = """--! qt:dataset:mine
set hive.cli.print.header=true;
-- A comment; with a semicolon.
create table t (a int, b string) row format delimited fields terminated by '|' null defined as 'none';
alter table t add columns (c double comment 'a, b');
load data local inpath '../../data/files/t.txt' into table t;
select * from t;
select a, concat(b, ';') from t where a > 1;
select a from t;
select * from mine;
insert into t values (3, 'z', 1);
select * from t;
create table p (a int, s struct<x:string,y:double>) partitioned by (k int);
insert into table p partition (k) select a, named_struct('x', b, 'y', c), a + 1 from t where a > 1;
alter table p replace columns (a string, s struct<x:string,y:string>);
select a, s.y, k from p;
create table u (a int) stored as avro;
insert into u values (1);
select * from u;
create table c stored as parquet as select a, cast(a as decimal(10,9)) as d from mine where a < 8;
select a, d from c;
create table n stored as sequencefile as select a from mine;
select a from n;
select sum(hash(a)) from c;
set hive.avro.timestamp.skip.conversion=true;
select a from mine;
"""
_OWN_ANSWERS = (
    ("select * from t", "t.a\tt.b\tt.c\n1\tx\t0.5\n2\tNULL\tNULL\n"),
    ("select a, concat(b, ';') from t where a > 1", "a\t_c1\n2\tNULL\n"),
    ("select a from t", "a\n1\n1\n"),
    ("select * from mine", "mine.a\n7\n"),
    ("insert into t values (3, 'z', 1)", ""),
    ("select * from t", "t.a\tt.b\tt.c\n1\tx\t0.5\n2\tNULL\tNULL\n3\tz\t1.0\n"),
    ("select a, s.y, k from p", "a\ty\tk\n2\tNULL\t3\n3\t1.0\t4\n"),
    ("select * from u", "u.a\n1\n"),
    ("select a, d from c", "a\td\n7\t7.000000000\n"),
    ("select a from n", "a\n7\n"),
    ("select sum(hash(a)) from c", "_c0\n7\n"),
    ("select a from mine", "a\n7\n"),
)


@pytest.fixture
def replay(spark: SparkSession, tmp_path: Path) -> Iterator[Replay]:
    registry = CatalogRegistry(PluginSet.of(HivePlugin()), "test")
    place = {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(tmp_path / "metastore.db")}
    registry.register("hive", "hive", place)
    made = spark.newSession()
    install(made, registry)
    # Hive's arithmetic gives NULL, no errors.
    made.conf.set("spark.sql.ansi.enabled", "false")
    made.sql("USE hive.default")
    hive = registry.get("hive")
    assert isinstance(hive, HiveConnector)
    yield Replay(made, hive.metastore, _SOURCES.resolve(), tmp_path / "tables")
    registry.shutdown()


@pytest.mark.slow
@pytest.mark.skipif(not _NAMES, reason=f"{_VARIABLE} names no checkout of Hive with q-tests")
@pytest.mark.parametrize("name", _NAMES or [""])
def test_answers_are_those_of_hive(replay: Replay, name: str, request: pytest.FixtureRequest) -> None:
    replay.spark.conf.set("spark.sql.session.timeZone", q_test_zone(_SOURCES, name))
    for step in read_q_test(_SOURCES, name):
        replay.run(step)
    others = [outcome for outcome in replay.outcomes if outcome.kind is not Kind.EQUAL]
    report = [f"{len(replay.outcomes) - len(others)} equal"]
    report += [f"{outcome.kind.value}: {outcome.query:.200}\n    {outcome.detail}" for outcome in others]
    request.node.add_report_section("call", f"q-test {name}", "\n".join(report))
    different = [outcome for outcome in replay.outcomes if outcome.kind is Kind.DIFFERENT]
    assert not different or name in KNOWN, f"{name}: {different[0].query}: {different[0].detail}"


@pytest.mark.slow
def test_queries_are_told_apart(replay: Replay, tmp_path: Path) -> None:
    sources = _own_sources(tmp_path)
    assert q_test_names(sources) == ["own"]
    replay.sources = sources
    for step in read_q_test(sources, "own"):
        replay.run(step)
    kinds = [outcome.kind for outcome in replay.outcomes]
    equal, left_out = Kind.EQUAL, Kind.LEFT_OUT
    assert kinds == [equal, equal, Kind.DIFFERENT, equal, equal, equal, left_out, equal, left_out, left_out, left_out]
    assert "only Hive [(1,)], only here [(2,)]" in replay.outcomes[2].detail
    assert "AvroContainerInputFormat are written" in replay.outcomes[6].detail
    assert "SequenceFileInputFormat are written" in replay.outcomes[8].detail
    assert "hash()" in replay.outcomes[9].detail
    assert "hive.avro.timestamp.skip.conversion" in replay.outcomes[10].detail


def _own_sources(folder: Path) -> Path:
    """A checkout with one q-test of ours."""
    sources = folder / "sources"
    files, queries = sources / "data" / "files", sources / "ql/src/test/queries/clientpositive"
    results = sources / "ql/src/test/results/clientpositive/llap"
    for place in (files / "datasets" / "mine", queries, results):
        place.mkdir(parents=True)
    (files / "t.txt").write_text("1|x|0.5\n2|none|no\n")
    (files / "m.txt").write_text("7\n")
    (files / "datasets" / "mine" / "load.hive.sql").write_text(
        'CREATE TABLE mine (a int);\nLOAD DATA LOCAL INPATH "${hiveconf:test.data.dir}/m.txt" INTO TABLE mine;\n'
    )
    (queries / "own.q").write_text(_OWN_Q)
    masked = "#### A masked pattern was here ####\n"
    hooks = "type: QUERY\n{0}: Input: default@t\n"
    (results / "own.q.out").write_text(
        "".join(
            f"PREHOOK: query: {query}\nPREHOOK: {hooks.format('PREHOOK')}{masked}"
            f"POSTHOOK: query: {query}\nPOSTHOOK: {hooks.format('POSTHOOK')}{masked}{lines}"
            for query, lines in _OWN_ANSWERS
        )
    )
    return sources
