r"""``\l``, ``\dn``, ``\dt``, ``\d`` and ``\df``."""

from __future__ import annotations

from connector_spi.errors import InvalidArgumentError
from connector_spi.names import CatalogSchemaTableName
from lakeport.shell.commands.descriptions import (
    Description,
    catalog_rows,
    describe_table,
    function_rows,
    schema_rows,
    table_rows,
)
from lakeport.shell.footer import row_count
from lakeport.shell.shell_session import ShellSession

__all__ = ["catalogs", "describe", "describe_all", "functions", "schemas", "tables", "unquoted"]


def catalogs(shell: ShellSession, rest: str) -> None:
    """All catalogs."""
    _show(shell, catalog_rows(shell.session))


def schemas(shell: ShellSession, pattern: str) -> None:
    """Schemas of the current catalog, or of one that the pattern names."""
    catalog, _, inner = pattern.rpartition(".")
    if not catalog and inner in shell.session.catalogs.names():
        catalog, inner = inner, ""
    catalog = catalog or shell.current[0] or ""
    if not catalog:
        raise InvalidArgumentError(r"no catalog is selected; USE a schema, or name one: \dn CATALOG")
    if not _is_ours(shell, catalog):
        shell.execute(f"SHOW SCHEMAS IN {catalog}")
        return
    _show(shell, schema_rows(shell.session, catalog.lower(), inner))


def tables(shell: ShellSession, pattern: str) -> None:
    """Tables of the current schema, or of one that the pattern names."""
    *before, inner = pattern.split(".")
    if len(before) == 1 and before[0] in shell.session.catalogs.names():
        before, inner = [before[0], inner], ""
    catalog, schema = [*shell.current[: 2 - len(before)], *before] if len(before) <= 2 else (None, None)
    if catalog is None or schema is None:
        raise InvalidArgumentError(r"no schema is selected; USE one, or name it: \dt CATALOG.SCHEMA.*")
    if not _is_ours(shell, catalog):
        shell.execute(f"SHOW TABLES IN {catalog}.{schema}")
        return
    _show(shell, table_rows(shell.session, catalog.lower(), schema.lower(), inner))


def describe(shell: ShellSession, name: str) -> None:
    """A table, or the tables of the schema if no table is named."""
    _describe(shell, name, verbose=False)


def describe_all(shell: ShellSession, name: str) -> None:
    """A table with its hidden columns and properties."""
    _describe(shell, name, verbose=True)


def functions(shell: ShellSession, pattern: str) -> None:
    """Functions and procedures."""
    _show(shell, function_rows(shell.session, pattern))


def unquoted(text: str) -> str:
    """A value without quotes around it."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text


def _describe(shell: ShellSession, name: str, *, verbose: bool) -> None:
    if not name:
        tables(shell, "")
        return
    catalog, schema, table = shell.full_name(name)
    if not _is_ours(shell, catalog):
        shell.execute(f"DESCRIBE TABLE {'EXTENDED ' if verbose else ''}{name}")
        return
    full = CatalogSchemaTableName(catalog, schema, table)
    described = describe_table(shell.session, full, verbose=verbose)
    shell.display.show(described.table, described.title, described.notes)


def _show(shell: ShellSession, description: Description) -> None:
    shell.display.show(description.table, description.title, [f"({row_count(description.table.num_rows)})"])


def _is_ours(shell: ShellSession, catalog: str) -> bool:
    """Whether a catalog is Lakeport's; others are Spark's. Without a Spark, an unknown name counts as Lakeport's."""
    return catalog in shell.session.catalogs.names() or not shell.session.is_started
