"""Better errors than Spark's: which catalog, schema or table is missing, similar names, what to use instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.errors import ParseException, PySparkException

from catalog.registry import CatalogRegistry
from catalog.resolver import resolve_schema
from connector_spi.errors import (
    CatalogNotFoundError,
    ConnectorError,
    InvalidArgumentError,
    SchemaNotFoundError,
    TableNotFoundError,
)
from connector_spi.names import CatalogSchemaTableName, parse_name
from connector_spi.properties import closest
from lakeport.planning.redirection import resolve
from lakeport.spark.bridge.errors import original
from lakeport.sql.unsupported_statements import refused_statement, unsupported_statement
from lakeport.transactions.plain_statement import plain_statement

__all__ = ["add_suggestion", "explain", "refused"]


def explain(
    error: Exception,
    registry: CatalogRegistry,
    current: tuple[str, str],
    is_sparks: Callable[[str], bool],
) -> ConnectorError | None:
    """A ``ConnectorError`` that explains more than Spark's error; ``None`` where Spark's own is best.

    Args:
        error: Spark's error from the analysis of a statement.
        registry: Lakeport's catalogs, to look for similar names.
        current: Catalog and schema of names without them.
        is_sparks: Whether Spark has a catalog of this name that is not one of Lakeport's.
    """
    found = original(error)
    if found is not None:
        return found
    if not isinstance(error, PySparkException):
        return None
    condition, parameters = error.getCondition(), error.getMessageParameters() or {}
    written = {
        "TABLE_OR_VIEW_NOT_FOUND": "relationName",
        "SCHEMA_NOT_FOUND": "schemaName",
        "REQUIRES_SINGLE_PART_NAMESPACE": "identifier",
        "NESTED_DATABASE_UNSUPPORTED_BY_V1_SESSION_CATALOG": "namespace",
    }.get(condition or "")
    if written is None or written not in parameters:
        return None
    try:
        parts = parse_name(parameters[written])
        if len(parts) > 1 and is_sparks(parts[0]) and parts[0] != current[0]:
            return None
        if condition in ("SCHEMA_NOT_FOUND", "NESTED_DATABASE_UNSUPPORTED_BY_V1_SESSION_CATALOG"):
            _look_up_schema(registry, parts, current[0])
        else:
            _look_up_table(registry, parts, current)
    except InvalidArgumentError:
        return None
    except ConnectorError as ours:
        return ours
    return None


def refused(error: Exception, text: str, registry: CatalogRegistry, current: tuple[str, str]) -> ConnectorError | None:
    """A ``ConnectorError`` for a statement that Spark refuses for our catalogs; ``None`` where it is another's.

    Spark refuses each kind in another way, some with an internal error.

    Args:
        error: Spark's error from the statement, which is not about a name.
        text: The statement.
        registry: Lakeport's catalogs.
        current: Catalog and schema of names without them.
    """
    statement = None if isinstance(error, ParseException) else refused_statement(text)
    if statement is None:
        return None
    known = registry.names()
    statement = statement.within(known, current)
    if statement.name[0] not in known:
        return None
    try:
        procedures = [procedure.name for procedure in registry.get(statement.name[0]).procedures]
    except ConnectorError as ours:
        return ours
    return unsupported_statement(statement, procedures)


def add_suggestion(
    error: PySparkException, function_names: Callable[[], list[str]], table_function_names: Callable[[], list[str]]
) -> None:
    """Adds a note with similar names to Spark's error about an unknown function, of rows or of a table."""
    parameters = error.getMessageParameters() or {}
    match error.getCondition():
        case "UNRESOLVED_ROUTINE":
            written, names = parameters.get("routineName", ""), function_names
        case "UNRESOLVABLE_TABLE_VALUED_FUNCTION":
            written, names = parameters.get("name", ""), table_function_names
        case "MISSING_CATALOG_ABILITY.TABLE_VALUED_FUNCTIONS":
            # Where the current catalog is not Spark's own; the error has no name.
            contexts = error.getQueryContext()
            written, names = contexts[0].fragment().partition("(")[0] if contexts else "", table_function_names
        case _:
            return
    near = closest(written.rpartition(".")[2].strip("` ").lower(), names())
    if near:
        error.add_note(near.removeprefix("; "))


def _look_up_table(registry: CatalogRegistry, parts: Sequence[str], current: tuple[str, str]) -> None:
    """Raises the error of a name; returns where the name is correct or not one of Lakeport's."""
    known = registry.names()
    if len(parts) == 3:
        catalog, schema, table = parts
    elif len(parts) == 2:
        (catalog, _), (schema, table) = current, parts
    elif len(parts) == 1:
        (catalog, schema), (table,) = current, parts
    else:
        return
    if catalog not in known:
        if len(parts) == 3 and catalog != current[0]:
            registry.connector_name(catalog)
        return
    access = plain_statement(registry).access(catalog)
    try:
        resolve(access, CatalogSchemaTableName(catalog, schema, table), None)
    except SchemaNotFoundError as error:
        if len(parts) == 2 and schema in known:
            raise TableNotFoundError(
                f"{error.message}; '{schema}' is a catalog: write a table of it as {schema}.<schema>.{table}"
            ) from error
        raise


def _look_up_schema(registry: CatalogRegistry, parts: Sequence[str], current: str) -> None:
    known = registry.names()
    # Spark prepends the current catalog to the name of a USE statement, and omits the catalog for others.
    rest = parts[1:] if len(parts) > 1 and (parts[0] == current or parts[0] in known) else parts
    catalog = parts[0] if len(rest) < len(parts) else current
    if len(rest) > 1:
        registry.connector_name(rest[0])
        return
    if catalog not in known or closest(rest[0], known):
        shown = registry.shown_names()
        there_are = f"there are the catalogs {', '.join(shown)}" if shown else "there are no catalogs"
        near = closest(rest[0], shown)
        raise CatalogNotFoundError(
            f"'{rest[0]}' is neither a catalog nor a schema of catalog '{catalog}'{near}; {there_are}"
        )
    access = plain_statement(registry).access(catalog)
    with access.lock:
        resolve_schema(access.session, access.metadata, catalog, rest[0])
