"""How rows of a table are laid out, as Spark's transforms: ``PARTITIONED BY`` and ``CLUSTERED BY``, both ways."""

from __future__ import annotations

from collections.abc import Sequence

from py4j.java_gateway import JavaObject

from connector_spi.errors import NotSupportedError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.schema import TableBuckets, TableMetadata
from lakeport.spark.bridge import answers
from lakeport.spark.bridge.answers import Answer
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["known_transforms", "read_transforms", "table_transforms"]

_EXPRESSIONS = "org.apache.spark.sql.connector.expressions."


def read_transforms(
    jvm: Jvm, name: CatalogSchemaTableName, transforms: JavaObject
) -> tuple[tuple[str, ...], TableBuckets | None]:
    """The partition keys and the buckets that ``CREATE TABLE`` says.

    Args:
        jvm: The JVM.
        name: The table.
        transforms: Spark's ``Transform[]``.

    Raises:
        NotSupportedError: A transform is neither a column nor buckets, or there are buckets twice.
    """
    keys: list[str] = []
    buckets: TableBuckets | None = None
    for transform in jvm.items(transforms):
        kind = str(transform.name())
        if kind == "identity":
            keys += _columns(name, transform, jvm.items(transform.arguments()))
        elif kind in ("bucket", "sorted_bucket") and buckets is None:
            buckets = _buckets(jvm, name, transform)
        else:
            raise NotSupportedError(
                f"CREATE TABLE {name} has {transform.describe()}: tables can be partitioned by columns and CLUSTERED "
                "BY columns once; leave it out"
            )
    return tuple(keys), buckets


def table_transforms(jvm: Jvm, table: TableMetadata) -> JavaObject:
    """Spark's ``Transform[]`` of a table's partition keys and buckets."""
    made = [jvm.cls(_EXPRESSIONS + "Expressions").identity(_quoted(name)) for name in table.partitioned_by]
    if table.buckets is not None:
        groups = [_references(jvm, table.buckets.columns)]
        groups += [_references(jvm, table.buckets.sorted_by)] if table.buckets.sorted_by else []
        made.append(jvm.cls(_EXPRESSIONS + "LogicalExpressions").bucket(table.buckets.count, *groups))
    return jvm.array(_EXPRESSIONS + "Transform", made)


def known_transforms(table: TableMetadata) -> Answer:
    """The same as ``table_transforms`` in words."""
    made = [answers.identity_transform(_quoted(name)) for name in table.partitioned_by]
    if table.buckets is not None:
        columns, sorted_by = (list(map(_quoted, names)) for names in (table.buckets.columns, table.buckets.sorted_by))
        made.append(answers.bucket_transform(table.buckets.count, columns, sorted_by))
    return answers.array(_EXPRESSIONS + "Transform", made)


def _buckets(jvm: Jvm, name: CatalogSchemaTableName, transform: JavaObject) -> TableBuckets:
    """Arguments are number and columns, or columns, number and the columns that sort (``SortedBucketTransform``)."""
    arguments = jvm.items(transform.arguments())
    numbers = [index for index, one in enumerate(arguments) if jvm.class_name(one) == "LiteralValue"]
    if len(numbers) != 1 or not str(arguments[numbers[0]].value()).isdecimal():
        raise NotSupportedError(f"CREATE TABLE {name} has {transform.describe()}; expected one number of buckets in it")
    at = numbers[0]
    before, behind = (_columns(name, transform, some) for some in (arguments[:at], arguments[at + 1 :]))
    columns, sorted_by = (before, behind) if before else (behind, [])
    return TableBuckets(tuple(columns), int(str(arguments[at].value())), tuple(sorted_by))


def _columns(name: CatalogSchemaTableName, transform: JavaObject, references: Sequence[JavaObject]) -> list[str]:
    paths = [[str(part) for part in reference.fieldNames()] for reference in references]
    if any(len(path) != 1 for path in paths):
        raise NotSupportedError(f"CREATE TABLE {name} has {transform.describe()} by a field of a struct; name columns")
    return [path[0] for path in paths]


def _references(jvm: Jvm, names: Sequence[str]) -> JavaObject:
    column = jvm.cls(_EXPRESSIONS + "Expressions").column
    return jvm.array(_EXPRESSIONS + "NamedReference", [column(_quoted(name)) for name in names])


def _quoted(name: str) -> str:
    return f"`{name}`"
