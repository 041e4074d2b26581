"""Reader factories of Spark's own readers: kept while all settings stay, made anew once one has changed."""

from __future__ import annotations

import json

import pytest
from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession

from lakeport.spark.bridge.compiled import java_classes
from lakeport.spark.bridge.jvm import Jvm

_PREDICATE = "org.apache.spark.sql.connector.expressions.filter.Predicate"
_BROADCAST = 1
"""Which field of a factory has Hadoop's settings for the tasks."""


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_a_factory_is_kept_until_a_setting_changes(spark: SparkSession, file_format: str) -> None:
    session = spark.newSession()
    jvm = Jvm(session)
    jvm.cls("org.apache.spark.sql.classic.SparkSession").setActiveSession(session._jsparkSession)
    first = factory(jvm, file_format)
    assert broadcast(factory(jvm, file_format)) == broadcast(first)
    session.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    second = factory(jvm, file_format)
    assert broadcast(second) != broadcast(first)
    assert second.productElement(_BROADCAST).value().value().get("spark.sql.files.ignoreCorruptFiles") == "true"
    hadoop = session.sparkContext._jsc.hadoopConfiguration()
    hadoop.set("lakeport.test", "seen")
    try:
        third = factory(jvm, file_format)
        assert third.productElement(_BROADCAST).value().value().get("lakeport.test") == "seen"
    finally:
        hadoop.unset("lakeport.test")
    assert factory(jvm, file_format).productElement(_BROADCAST).value().value().get("lakeport.test") is None


@pytest.mark.slow
def test_the_factories_used_last_are_kept(spark: SparkSession) -> None:
    """Each has settings of Hadoop's in memory: what a session keeps of them is bounded."""
    jvm = Jvm(spark)
    jvm.cls("org.apache.spark.sql.classic.SparkSession").setActiveSession(spark._jsparkSession)
    used, unused = factory(jvm, "parquet", columns=("used",)), factory(jvm, "parquet", columns=("unused",))
    for number in range(63):
        factory(jvm, "parquet", columns=(f"c{number}",))
        assert broadcast(factory(jvm, "parquet", columns=("used",))) == broadcast(used)
    assert broadcast(factory(jvm, "parquet", columns=("unused",))) != broadcast(unused)


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_a_kept_factory_takes_the_filters_of_each_query(spark: SparkSession, file_format: str) -> None:
    jvm = Jvm(spark)
    jvm.cls("org.apache.spark.sql.classic.SparkSession").setActiveSession(spark._jsparkSession)
    for value in (1, 2):
        literal = jvm.cls("org.apache.spark.sql.connector.expressions.Expressions").literal(value)
        column = jvm.cls("org.apache.spark.sql.connector.expressions.Expressions").column("id")
        sides = jvm.array("org.apache.spark.sql.connector.expressions.Expression", [column, literal])
        made = factory(jvm, file_format, jvm.cls(_PREDICATE)("=", sides))
        assert filters(jvm, made) == [f"EqualTo(id,{value})"]
    assert filters(jvm, factory(jvm, file_format)) == []


def factory(jvm: Jvm, file_format: str, *predicates: JavaObject, columns: tuple[str, ...] = ("id",)) -> JavaObject:
    made = java_classes.function(jvm, "NativeScan")
    assert made is not None
    struct = '{"type":"struct","fields":[%s]}'
    column = '{"name":"%s","type":"integer","nullable":true,"metadata":{}}'
    words = {
        "format": file_format,
        "columns": struct % ",".join(column % name for name in columns),
        "constants": struct % "",
        "options": {},
        "hadoop": {},
    }
    return made.factory(jvm.array(_PREDICATE, predicates), json.dumps(words))


def broadcast(made: JavaObject) -> int:
    return int(made.productElement(_BROADCAST).id())


def filters(jvm: Jvm, made: JavaObject) -> list[str]:
    values = [made.productElement(at) for at in range(made.productArity())]
    [found] = [one for one in values if isinstance(one, JavaObject) and one.getClass().getSimpleName() == "Filter[]"]
    return [str(one.toString()) for one in jvm.items(found)]
