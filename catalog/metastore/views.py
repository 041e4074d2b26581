"""Views of a metastore: those of Hive, of Spark, and of Presto and Trino."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping

from catalog.metastore import error_codes
from catalog.metastore.model import Table
from catalog.metastore.trino_types import parse_trino_type
from catalog.metastore.types import parse_hive_type
from connector_spi.errors import MetastoreError, NotSupportedError
from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import ViewDefinition, ViewDialect
from connector_spi.schema import ColumnMetadata

__all__ = ["view_definition"]

# Trino's ViewReaderUtil and Presto's MetastoreUtil: what viewOriginalText begins with.
_PRESTO = re.compile(r"/\* Presto View: ([A-Za-z0-9+/=]+) \*/")
_PRESTO_MATERIALIZED = "/* Presto Materialized View"
_NAMESPACE = "view.catalogAndNamespace."
_OUTPUT = "view.query.out."
_SETTING = "view.sqlConfig."
_SESSION_CATALOG = "spark_catalog"


def view_definition(table: Table) -> ViewDefinition | None:
    """The view that a metastore's entry describes; ``None`` for a table.

    Raises:
        NotSupportedError: It is a materialized view of Presto or Trino, or a column has a type that is not supported.
        MetastoreError: The entry is damaged.
    """
    if not table.is_view:
        return None
    original = table.view_original_text or ""
    if original.startswith(_PRESTO_MATERIALIZED):
        raise NotSupportedError(
            f"{table.database}.{table.name} is a materialized view of Presto or Trino, which keeps its rows in a table "
            "of another name; query that table",
            error_codes.UNSUPPORTED_VIEW,
        )
    presto = _PRESTO.fullmatch(original.strip())
    if presto is not None:
        return _presto_view(table, presto.group(1))
    if table.parameters.get("presto_view") == "true":
        raise MetastoreError(
            f"{table.database}.{table.name} is a view of Presto or Trino whose text cannot be read: {original:.80}"
        )
    # Hive's expanded text names every table in full; Spark's is the query as written.
    text = table.view_expanded_text or original
    if not text:
        raise MetastoreError(f"the metastore has no text for the view {table.database}.{table.name}")
    is_sparks = f"{_NAMESPACE}numParts" in table.parameters or "spark.sql.create.version" in table.parameters
    return _hive_view(table, text, ViewDialect.SPARK if is_sparks else ViewDialect.HIVE)


def _hive_view(table: Table, text: str, dialect: ViewDialect) -> ViewDefinition:
    names = _numbered(table.parameters, f"{_NAMESPACE}numParts", f"{_NAMESPACE}part.")
    catalog, *schemas = names or (None,)
    settings = {key[len(_SETTING) :]: value for key, value in table.parameters.items() if key.startswith(_SETTING)}
    return ViewDefinition(
        name=SchemaTableName(table.database, table.name),
        dialect=dialect,
        text=text,
        columns=tuple(
            ColumnMetadata(field.name, parse_hive_type(field.type), comment=field.comment or None)
            for field in table.storage.columns
        ),
        # The session's catalog of its maker is the metastore that the view lies in.
        catalog=None if catalog == _SESSION_CATALOG else catalog,
        schema=schemas[0] if len(schemas) == 1 else None,
        query_columns=_numbered(table.parameters, f"{_OUTPUT}numCols", f"{_OUTPUT}col."),
        settings=tuple(settings.items()),
        comment=table.parameters.get("comment"),
        properties=_shown(table.parameters),
        owner=table.owner or None,
    )


def _presto_view(table: Table, encoded: str) -> ViewDefinition:
    name = SchemaTableName(table.database, table.name)
    try:
        view = json.loads(base64.b64decode(encoded, validate=True))
        columns = tuple(
            ColumnMetadata(
                str(column["name"]).lower(), parse_trino_type(str(column["type"])), comment=column.get("comment")
            )
            for column in view["columns"]
        )
        return ViewDefinition(
            name=name,
            dialect=ViewDialect.TRINO,
            text=str(view["originalSql"]),
            columns=columns,
            catalog=view.get("catalog"),
            schema=view.get("schema"),
            comment=view.get("comment"),
            properties=_shown(table.parameters),
            # Trino's ViewDefinition; a view of an old Presto may have no owner, and is read as who asks.
            owner=view.get("owner") or None,
            run_as_invoker=bool(view.get("runAsInvoker", False)),
        )
    except (binascii.Error, ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, NotSupportedError):
            raise
        raise MetastoreError(f"the view {name} of Presto or Trino is damaged: {error}") from error


def _numbered(parameters: Mapping[str, str], count: str, prefix: str) -> tuple[str, ...]:
    text = parameters.get(count, "0")
    names = [parameters.get(f"{prefix}{index}") for index in range(int(text) if text.isdigit() else 0)]
    return tuple(name for name in names if name is not None)


def _shown(parameters: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    hidden = ("view.", "spark.sql.", "transient_", "comment", "presto_view")
    return tuple((key, value) for key, value in parameters.items() if not key.startswith(hidden))
