"""Definitions of schemas, tables and views in a metastore, as the SPI asks for them. Shared by connectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog.metastore import error_codes
from catalog.metastore.model import Database, FieldSchema, Parameters, Table
from catalog.metastore.table_access import ACCESS_PREFIX
from catalog.metastore.views import view_definition
from connector_spi.errors import (
    ColumnNotFoundError,
    InvalidArgumentError,
    NotSupportedError,
    SchemaNotFoundError,
    TableNotFoundError,
    UserError,
)
from connector_spi.names import SchemaTableName, quote_identifier
from connector_spi.properties import closest

if TYPE_CHECKING:
    from catalog.metastore.client import MetastoreClient, MetastoreWriter
    from catalog.metastore.factory import Metastore
    from connector_spi.optional.definitions import ViewDefinition
    from connector_spi.session import ConnectorSession

__all__ = ["MetastoreDefinitions", "check_table_properties", "is_managed", "is_translated", "location_uri"]

_COMMENT = "comment"
_LOCATION = "location"
# They say what the rows of a table are, or are the metastore's own.
_FIXED = frozenset(
    {
        "external",
        "is_managed_location",
        "last_modified_by",
        "last_modified_time",
        "location",
        "owner",
        "presto_view",
        "provider",
        "storage_handler",
        "table_type",
        "transactional",
        "transactional_properties",
        "transient_lastddltime",
    }
)
_PURGE = "external.table.purge"
_FIXED_PREFIXES = (ACCESS_PREFIX, "spark.sql.", "view.")


class MetastoreDefinitions:
    """What a connector over a metastore can define.

    Args:
        metastore: Asked anew each time: nothing is cached here.
        delete_folder: Deletes a folder with all that is in it, for a metastore that deletes no files itself.

    Attributes:
        metastore: The metastore.
    """

    def __init__(self, metastore: Metastore, delete_folder: Callable[[str], None]) -> None:
        self.metastore = metastore
        self._delete_folder = delete_folder

    def create_schema(self, session: ConnectorSession, schema: str, properties: Mapping[str, str]) -> None:
        """See ``SupportsSchemaDefinition``; the location need not be there."""
        if self._reads(session).get_database(schema) is not None:
            raise UserError(f"schema {quote_identifier(schema)} exists already", error_codes.ALREADY_EXISTS)
        location = properties.get(_LOCATION)
        others = {key: value for key, value in properties.items() if key not in (_COMMENT, _LOCATION, "owner")}
        self._writes(session).create_database(
            Database(
                schema,
                properties.get(_COMMENT),
                None if location is None else location_uri(location),
                _parameters(others),
                properties.get("owner") or session.user,
            )
        )

    def set_schema_properties(self, session: ConnectorSession, schema: str, changes: Mapping[str, str | None]) -> None:
        """See ``SupportsSchemaDefinition``."""
        database = self._reads(session).get_database(schema)
        if database is None:
            raise SchemaNotFoundError(f"the metastore has no database {schema}")
        fixed = sorted(set(changes) & {_LOCATION, "owner"})
        if fixed:
            raise NotSupportedError(
                f"the {fixed[0]} of schema {schema} cannot be changed here; use Hive's ALTER DATABASE"
            )
        description = changes.get(_COMMENT, database.description)
        others = {key: value for key, value in changes.items() if key != _COMMENT}
        self._writes(session).alter_database(
            replace(database, description=description, parameters=_parameters(database.parameters, others))
        )
        after = self._reads(session).get_database(schema)
        # ObjectStore.alterDatabase of Hive 2 and 3 keeps the old one, and says nothing.
        if after is not None and (after.description or "") != (description or ""):
            raise NotSupportedError(
                f"the metastore did not take the new comment of schema {schema}: those of this version keep the one "
                "that a schema was made with"
            )

    def drop_schema(self, session: ConnectorSession, schema: str, cascade: bool) -> None:
        """See ``SupportsSchemaDefinition``; the schema's own folder stays."""
        names = self._reads(session).get_table_names(schema)
        if names and not cascade:
            raise UserError(
                f"schema {schema} holds {len(names)} tables, {names[0]} among them; drop them first, or say CASCADE",
                error_codes.NOT_EMPTY,
            )
        for name in names:
            self.drop_table(session, SchemaTableName(schema, name), purge=False)
        self._writes(session).drop_database(schema)

    def drop_table(self, session: ConnectorSession, name: SchemaTableName, purge: bool) -> None:
        """See ``SupportsTableDefinition``."""
        table = self._table(session, name)
        managed = is_managed(table) or is_translated(table)
        metastore_deletes = managed and self._writes(session).deletes_files
        self._writes(session).drop_table(name.schema, name.table, delete_data=metastore_deletes, purge=purge)
        if managed and not metastore_deletes and table.storage.location:
            self._delete_folder(table.storage.location)

    def rename_table(self, session: ConnectorSession, name: SchemaTableName, new_name: SchemaTableName) -> None:
        """See ``SupportsTableDefinition``; a metastore of Hive moves the folder of a managed table."""
        table = self._table(session, name)
        if self._reads(session).get_table(new_name.schema, new_name.table) is not None:
            raise UserError(f"table {new_name} exists already", error_codes.ALREADY_EXISTS)
        renamed = replace(table, database=new_name.schema, name=new_name.table)
        self._writes(session).alter_table(name.schema, name.table, renamed)

    def set_table_properties(
        self, session: ConnectorSession, name: SchemaTableName, changes: Mapping[str, str | None]
    ) -> None:
        """See ``SupportsTableDefinition``."""
        table = self._table(session, name)
        _refuse_view(table)
        check_table_properties(name, changes)
        self._writes(session).alter_table(
            name.schema, name.table, replace(table, parameters=_parameters(table.parameters, changes))
        )

    def set_column_comment(
        self, session: ConnectorSession, name: SchemaTableName, column: str, comment: str | None
    ) -> None:
        """See ``SupportsTableDefinition``."""
        table = self._table(session, name)
        _refuse_view(table)
        wanted = column.lower()
        names = [field.name for field in (*table.storage.columns, *table.partition_keys)]
        if wanted not in names:
            raise ColumnNotFoundError(f"no column {quote_identifier(column)} in table {name}{closest(wanted, names)}")

        def changed(fields: Sequence[FieldSchema]) -> tuple[FieldSchema, ...]:
            return tuple(replace(field, comment=comment) if field.name == wanted else field for field in fields)

        storage = replace(table.storage, columns=changed(table.storage.columns))
        altered = replace(table, storage=storage, partition_keys=changed(table.partition_keys))
        self._writes(session).alter_table(name.schema, name.table, altered)

    def get_view(self, session: ConnectorSession, name: SchemaTableName) -> ViewDefinition | None:
        """See ``SupportsViews``."""
        table = self._reads(session).get_table(name.schema, name.table)
        return None if table is None else view_definition(table)

    def list_views(self, session: ConnectorSession, schema: str) -> Sequence[SchemaTableName]:
        """See ``SupportsViews``; asks for many tables at once."""
        reads = self._reads(session)
        tables = reads.get_tables(schema, reads.get_table_names(schema))
        return [SchemaTableName(schema, name) for name in sorted(table.name for table in tables if table.is_view)]

    def _reads(self, session: ConnectorSession) -> MetastoreClient:
        return self.metastore.as_user(session.user).reads

    def _writes(self, session: ConnectorSession) -> MetastoreWriter:
        return self.metastore.as_user(session.user).writes

    def _table(self, session: ConnectorSession, name: SchemaTableName) -> Table:
        table = self._reads(session).get_table(name.schema, name.table)
        if table is None:
            raise TableNotFoundError(f"the metastore has no table {name}")
        return table


def is_managed(table: Table) -> bool:
    """Whether the files of a table go with it."""
    return table.table_type == "MANAGED_TABLE" and table.parameters.get("EXTERNAL", "").upper() != "TRUE"


def is_translated(table: Table) -> bool:
    """Whether the metastore of Hive 4 has made a managed table an external one (``HiveMetastoreDefaultTransformer``).

    Its files go with it, as Hive drops it.
    """
    return all(table.parameters.get(key, "").upper() == "TRUE" for key in ("TRANSLATED_TO_EXTERNAL", _PURGE))


def check_table_properties(name: SchemaTableName, changes: Mapping[str, str | None]) -> None:
    """Refuses properties that say what the rows of a table are, or that the metastore keeps itself.

    Raises:
        NotSupportedError: There is one.
    """
    for key in changes:
        if key.lower() in _FIXED or key.lower().startswith(_FIXED_PREFIXES):
            raise NotSupportedError(
                f"the property '{key}' of {name} cannot be set here, since it says what kind of table it is; drop the "
                "table and create it again, or use the engine that owns it"
            )


def location_uri(text: str) -> str:
    """A folder as the metastore keeps it: a URI with no slash at its end.

    Raises:
        InvalidArgumentError: It is neither an absolute path nor a URI.
    """
    location = text.strip().rstrip("/")
    if location.startswith("/"):
        return f"file://{location}"
    # As Spark writes it; the metastore has the same form for all.
    if location.startswith("file:/") and not location.startswith("file://"):
        return f"file://{location.removeprefix('file:')}"
    if ":" not in location:
        raise InvalidArgumentError(
            f"the location {text!r} is neither an absolute path nor a URI such as s3://bucket/folder"
        )
    return location


def _refuse_view(table: Table) -> None:
    if table.is_view:
        raise NotSupportedError(
            f"{table.database}.{table.name} is a view; views are changed with the engine that made them"
        )


def _parameters(before: Mapping[str, str], changes: Mapping[str, str | None] | None = None) -> Parameters:
    merged: dict[str, str | None] = {**before, **(changes or {})}
    return Parameters.of({key: value for key, value in merged.items() if value is not None})
