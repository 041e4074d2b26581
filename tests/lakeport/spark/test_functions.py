"""What the shell tells of Spark's functions, against Spark's own registry."""

from __future__ import annotations

from pyspark.sql import SparkSession

from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.functions import function_names, function_usages


def test_names_and_how_they_are_called(spark: SparkSession) -> None:
    jvm = Jvm(spark)
    names = function_names(jvm)
    assert {"date_trunc", "count", "if", "explode", "try_add"} <= set(names)
    # Spark lists these under SHOW FUNCTIONS; they are no calls.
    operators = {"and", "or", "not", "in", "like", "rlike", "between", "case", "when", "div", "%", "!", "<=>", "||"}
    assert not operators & set(names)
    assert all(name.isidentifier() for name in names)
    found = {usage.name: usage for usage in function_usages(jvm, sorted(names))}
    assert found["date_trunc"].signature == "fmt, ts"
    assert found["date_trunc"].description.startswith("Returns timestamp ts truncated to the unit specified")
    assert found["pi"].signature == ""
    assert found["pi"].description == "Returns pi."
    assert not [usage for usage in found.values() if "_FUNC_" in str(usage) or "\n" in usage.description]
