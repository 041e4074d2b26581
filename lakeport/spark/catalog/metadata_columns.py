"""Hidden columns of tables as Spark sees them."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import ClassVar

from py4j.java_gateway import JavaObject

from connector_spi.schema import ColumnMetadata
from lakeport.spark.bridge import answers
from lakeport.spark.bridge.answers import Answer
from lakeport.spark.bridge.jvm import CATALOG, Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.bridge.types import spark_type_json

__all__ = ["known_metadata_columns", "metadata_columns"]


def metadata_columns(jvm: Jvm, hidden: Sequence[ColumnMetadata], row_ids: frozenset[str]) -> JavaObject:
    """A ``MetadataColumn[]``; one array serves all tables that have the same hidden columns.

    Args:
        jvm: The door to the JVM.
        hidden: The columns.
        row_ids: Those of them that name a row, and are never NULL.
    """
    key = ("metadata columns", row_ids, *((column.name, column.type) for column in hidden))
    if key not in jvm.shared:
        proxies = [
            MetadataColumnProxy(jvm, column.name, spark_type_json(column.type, column.name), column.name not in row_ids)
            for column in hidden
        ]
        jvm.shared[key] = jvm.array(CATALOG + "MetadataColumn", proxies)
    return jvm.shared[key]


def known_metadata_columns(hidden: Sequence[ColumnMetadata], row_ids: Collection[str]) -> Answer:
    """The same, for Java to answer."""
    return answers.array(CATALOG + "MetadataColumn", [_known(one, row_ids) for one in hidden])


class MetadataColumnProxy(Proxy):
    """A hidden column such as ``$path``."""

    class Java:
        implements: ClassVar[list[str]] = [CATALOG + "MetadataColumn"]

    def __init__(self, jvm: Jvm, name: str, type_json: str, nullable: bool) -> None:
        super().__init__(jvm)
        self._name = name
        self._nullable = nullable
        self._type = jvm.data_type(type_json)

    def name(self) -> str:
        """The column's name."""
        return self._name

    def dataType(self) -> JavaObject:
        """The column's type."""
        return self._type

    def isNullable(self) -> bool:
        """Always, as far as Spark knows, but for what names a row."""
        return self._nullable

    def comment(self) -> None:
        """None."""
        return

    def transform(self) -> None:
        """None: it is not derived."""
        return

    def metadataInJSON(self) -> str:
        """No marks."""
        return json.dumps({})


def _known(column: ColumnMetadata, row_ids: Collection[str]) -> Answer:
    found = {
        "name": answers.plain(column.name),
        "dataType": answers.spark_type(spark_type_json(column.type, column.name)),
        "isNullable": answers.plain(column.name not in row_ids),
        "comment": answers.plain(None),
        "transform": answers.plain(None),
        "metadataInJSON": answers.plain("{}"),
        "toString": answers.plain(column.name),
        "hashCode": answers.plain(0),
    }
    return answers.java_object(CATALOG + "MetadataColumn", found)
