r"""``\l``, ``\dn``, ``\dt``, ``\dv``, ``\d`` and ``\df``."""

from __future__ import annotations

from connector_spi.errors import InvalidArgumentError
from connector_spi.names import CatalogSchemaTableName
from lakeport.shell.commands.descriptions import Description, describe_table
from lakeport.shell.commands.listings import (
    RelationPattern,
    catalog_rows,
    function_rows,
    relation_rows,
    schema_rows,
)
from lakeport.shell.shell_session import ShellSession
from lakeport.units import count_text

__all__ = [
    "all_schemas",
    "all_tables",
    "catalogs",
    "describe",
    "describe_all",
    "functions",
    "schemas",
    "tables",
    "tables_in_detail",
    "unquoted",
    "views",
]


def catalogs(shell: ShellSession, rest: str) -> None:
    """All catalogs."""
    _show(shell, catalog_rows(shell.session))


def schemas(shell: ShellSession, pattern: str) -> None:
    """Schemas of the current catalog, or of one that the pattern names."""
    _schemas(shell, pattern, system=False)


def all_schemas(shell: ShellSession, pattern: str) -> None:
    """The same with those about the catalog itself."""
    _schemas(shell, pattern, system=True)


def tables(shell: ShellSession, pattern: str) -> None:
    """Tables and views of the current schema, or of those that the pattern names."""
    _relations(shell, pattern)


def tables_in_detail(shell: ShellSession, pattern: str) -> None:
    """The same with type, format, location and comment."""
    _relations(shell, pattern, verbose=True)


def all_tables(shell: ShellSession, pattern: str) -> None:
    """The same with those about the catalog itself."""
    _relations(shell, pattern, system=True)


def views(shell: ShellSession, pattern: str) -> None:
    """Views alone."""
    _relations(shell, pattern, views_only=True)


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


def _schemas(shell: ShellSession, pattern: str, *, system: bool) -> None:
    catalog, _, inner = pattern.rpartition(".")
    if not catalog and inner in shell.session.catalogs.names():
        catalog, inner = inner, ""
    catalog = catalog or shell.current[0] or ""
    if not catalog:
        raise InvalidArgumentError(r"no catalog is selected; USE a schema, or name one: \dn CATALOG")
    if not _is_ours(shell, catalog):
        shell.execute(f"SHOW SCHEMAS IN {catalog}")
        return
    _show(shell, schema_rows(shell.session, catalog.lower(), inner, system=system))


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


def _relations(
    shell: ShellSession, pattern: str, *, views_only: bool = False, verbose: bool = False, system: bool = False
) -> None:
    *before, inner = pattern.split(".")
    if len(before) == 1 and before[0] in shell.session.catalogs.names():
        before, inner = [before[0], inner], ""
    catalog, schema = [*shell.current[: 2 - len(before)], *before] if len(before) <= 2 else (None, None)
    if catalog is None or schema is None:
        raise InvalidArgumentError(r"no schema is selected; USE one, or name it: \dt CATALOG.SCHEMA.*")
    if not _is_ours(shell, catalog):
        shell.execute(f"SHOW {'VIEWS' if views_only else 'TABLES'} IN {catalog}.{schema}")
        return
    wanted = RelationPattern(catalog.lower(), schema.lower(), inner, system)
    _show(shell, relation_rows(shell.session, wanted, views_only=views_only, verbose=verbose))


def _show(shell: ShellSession, description: Description) -> None:
    shell.display.show(description.table, description.title, [f"({count_text(description.table.num_rows, 'row')})"])


def _is_ours(shell: ShellSession, catalog: str) -> bool:
    """Whether a catalog is Lakeport's, not the engine's own, which a pattern never means.

    One that no one knows counts as Lakeport's until the engine has started, which may know it.
    """
    is_pattern = not {"*", "?"}.isdisjoint(catalog)
    return is_pattern or catalog in shell.session.catalogs.names() or not shell.session.is_started
