"""Expresses views written in the SQL of Hive, Spark or Trino in Spark's SQL."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from connector_spi.errors import ErrorCode, NotSupportedError
from connector_spi.names import quote_identifier
from connector_spi.optional.definitions import ViewDefinition, ViewDialect
from connector_spi.schema import ColumnMetadata
from lakeport.error_codes import UNSUPPORTED_VIEW
from lakeport.trino.translation import to_spark

__all__ = ["SparkView", "shown_text", "spark_view"]

_SHOWN = 1000
_ANSI = "spark.sql.ansi.enabled"
# In Hive, a failing cast or sum is NULL; in Trino it is an error. Trino's decimals keep their scale.
_HIVE_SETTINGS = ((_ANSI, "false"),)
_TRINO_SETTINGS = ((_ANSI, "true"), ("spark.sql.decimalOperations.allowPrecisionLoss", "false"))


@dataclass(frozen=True, slots=True)
class SparkView:
    """A view for Spark.

    Attributes:
        text: A query in Spark's SQL.
        catalog: Catalog of names without one.
        schema: Schema of names without one.
        query_columns: Names of the query's columns; empty where they are the view's own.
        settings: Settings of Spark for this query.
        shown: The view's own text, for messages.
        code: Code of errors about it.
    """

    text: str
    catalog: str
    schema: str
    query_columns: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    shown: str
    code: ErrorCode = UNSUPPORTED_VIEW


def spark_view(catalog: str, view: ViewDefinition) -> SparkView:
    """Expresses a view in Spark's SQL.

    Args:
        catalog: The catalog of the view.
        view: The view.

    Raises:
        NotSupportedError: It may mean something else in Spark; the message shows the text and the part.
    """
    schema = view.schema or view.name.schema
    shown = shown_text(view)
    if view.dialect is ViewDialect.SPARK:
        if "spark_catalog" in view.text:
            raise NotSupportedError(
                f"the view {view.name} cannot be read: it names spark_catalog, which is a different one here: {shown}",
                UNSUPPORTED_VIEW,
            )
        return SparkView(
            text=view.text,
            catalog=view.catalog or catalog,
            schema=schema,
            query_columns=view.query_columns,
            settings=view.settings or _HIVE_SETTINGS,
            shown=shown,
        )
    names = ", ".join(quote_identifier(column.name) for column in view.columns)
    if view.dialect is ViewDialect.HIVE:
        # By position, since Hive names an unnamed column _c0, and Spark differently.
        text = f"SELECT * FROM (\n{view.text}\n) AS `v`({names})"
        return SparkView(
            text=text, catalog=catalog, schema=schema, query_columns=(), settings=_HIVE_SETTINGS, shown=shown
        )
    shown_columns = ", ".join(_trino_column(column) for column in view.columns)
    text = f"SELECT {shown_columns} FROM (\n{to_spark(view, shown)}\n) AS `v`({names})"
    return SparkView(
        text=text,
        catalog=view.catalog or catalog,
        schema=schema,
        query_columns=(),
        settings=_TRINO_SETTINGS,
        shown=shown,
    )


def _trino_column(column: ColumnMetadata) -> str:
    """A column of the view; a decimal is cast to the view's type, since Spark's sums and products differ in digits."""
    name = quote_identifier(column.name)
    if not pa.types.is_decimal(column.type):
        return name
    return f"CAST({name} AS DECIMAL({column.type.precision}, {column.type.scale})) AS {name}"


def shown_text(view: ViewDefinition) -> str:
    """A view's text on one line, for a message."""
    text = " ".join(view.text.split())
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
