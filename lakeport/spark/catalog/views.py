"""Views of a metastore as Spark views: Spark parses their text in the view's catalog and schema."""

from __future__ import annotations

from dataclasses import replace

from py4j.java_gateway import JavaObject

from connector_spi.errors import NotSupportedError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.definitions import ViewDefinition
from lakeport.spark.bridge.jvm import CATALOG, Jvm
from lakeport.spark.bridge.types import spark_schema_json
from lakeport.spark.catalog.owners import OwnersNames
from lakeport.sql.view_text import SparkView, spark_view
from lakeport.transactions.statement import CatalogAccess

__all__ = ["find_view", "view_relation"]

_CATALYST = "org.apache.spark.sql.catalyst."
# CatalogTable's constructor: identifier, type, storage, schema; owner; comment, view text and properties follow.
_PARAMETERS = ("identifier", "tableType", "storage", "schema", "properties", "viewText", "viewOriginalText", "comment")


def find_view(access: CatalogAccess, name: CatalogSchemaTableName) -> ViewDefinition | None:
    """The view of this name; ``None`` where there is none, or the catalog does not support views."""
    return access.tables.view(access.begun, access.session, name.schema_table)


def view_relation(jvm: Jvm, catalog: str, view: ViewDefinition, names: OwnersNames | None = None) -> JavaObject:
    """The view as a relation that each version of Spark expands: a ``V1Table`` around a ``CatalogTable``.

    Args:
        jvm: The JVM.
        catalog: The catalog of the view.
        view: The view.
        names: Of catalogs with the rights of the view's owner; ``None`` where the text keeps their own ones.

    Raises:
        NotSupportedError: Its text cannot be expressed in Spark's SQL; the message shows the text and the part.
    """
    read = spark_view(catalog, view)
    _check_parses(jvm, view, read)
    if names is not None:
        text, within = names.renamed(read.text, read.catalog)
        read = replace(read, text=text, catalog=within)
    identifier = jvm.cls(_CATALYST + "TableIdentifier")
    given = {
        "identifier": identifier(view.name.table, jvm.some(view.name.schema), jvm.some(catalog)),
        "tableType": jvm.cls(_CATALYST + "catalog.CatalogTableType").VIEW(),
        "storage": jvm.cls(_CATALYST + "catalog.CatalogStorageFormat").empty(),
        "schema": jvm.data_type(spark_schema_json(view.columns)),
        "properties": jvm.cls("org.apache.spark.api.python.PythonUtils").toScalaMap(_properties(view, read)),
        "viewText": jvm.some(read.text),
        "viewOriginalText": jvm.some(view.text),
        "comment": jvm.none if view.comment is None else jvm.some(view.comment),
    }
    return jvm.cls(CATALOG + "V1Table")(_catalog_table(jvm, given))


def _catalog_table(jvm: Jvm, given: dict[str, JavaObject]) -> JavaObject:
    """A ``CatalogTable``: its parameters differ between versions of Spark, their names do not."""
    table = jvm.cls(_CATALYST + "catalog.CatalogTable")
    names = _parameter_names(jvm)
    arguments = [
        given[name] if name in given else getattr(table, f"$lessinit$greater$default${position}")()
        for position, name in enumerate(names, 1)
    ]
    return table(*arguments)


def _parameter_names(jvm: Jvm) -> tuple[str, ...]:
    key = "names of the parameters of CatalogTable"
    if key not in jvm.shared:
        found = jvm.cls("java.lang.Class").forName(_CATALYST + "catalog.CatalogTable")
        count = jvm.items(found.getConstructors())[0].getParameterCount()
        is_final = jvm.cls("java.lang.reflect.Modifier").isFinal
        # A case class keeps its parameters as final fields, in their order.
        fields = [field for field in jvm.items(found.getDeclaredFields()) if is_final(field.getModifiers())]
        own = [str(field.getName()) for field in fields if "$" not in str(field.getName())][:count]
        jvm.shared[key] = jvm.strings(own)
    return tuple(jvm.texts(jvm.shared[key]))


def _properties(view: ViewDefinition, read: SparkView) -> dict[str, str]:
    """The entries that Spark's ``CatalogTable`` reads a view's context from."""
    names = {"view.catalogAndNamespace.numParts": "2", "view.catalogAndNamespace.part.0": read.catalog}
    names["view.catalogAndNamespace.part.1"] = read.schema
    output = {f"view.query.out.col.{index}": name for index, name in enumerate(read.query_columns)}
    if output:
        output["view.query.out.numCols"] = str(len(output))
    settings = {f"view.sqlConfig.{key}": value for key, value in read.settings}
    return {**dict(view.properties), **names, **output, **settings}


def _check_parses(jvm: Jvm, view: ViewDefinition, read: SparkView) -> None:
    parser = jvm.cls("org.apache.spark.sql.classic.SparkSession").active().sessionState().sqlParser()
    try:
        parser.parseQuery(read.text)
    except Exception as error:
        reason = _first_words(str(getattr(error, "java_exception", error)))
        raise NotSupportedError(
            f"the view {view.name} cannot be read: Spark cannot parse its text ({reason}): {read.shown}",
            read.code,
        ) from error


def _first_words(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[:2])[:300]
