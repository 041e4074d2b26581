"""A Lakeport catalog as a Spark catalog."""

from __future__ import annotations

from typing import ClassVar

from py4j.java_gateway import JavaObject

from catalog.metastore.wrappers.read_only import READ_ONLY_CATALOG
from catalog.registry import CatalogRegistry
from catalog.resolver import resolve_schema
from connector_spi.errors import NotSupportedError, SchemaNotFoundError, TableNotFoundError
from connector_spi.optional.definitions import ViewDefinition
from connector_spi.optional.writing import SupportsInsert, SupportsMerge, SupportsOverwrite
from lakeport.arrow.write.inserting import resolve_target
from lakeport.planning.procedures import find_procedure
from lakeport.planning.redirection import list_catalog
from lakeport.spark.bridge import answers
from lakeport.spark.bridge.answers import KnownAnswers
from lakeport.spark.bridge.bulk_identifiers import identifiers, table_summaries
from lakeport.spark.bridge.compiled.bucket_functions import bucket_function
from lakeport.spark.bridge.errors import as_illegal_argument, no_such_function, no_such_namespace, no_such_table
from lakeport.spark.bridge.jvm import CATALOG, Jvm
from lakeport.spark.bridge.plan_words.asked_table import AskedTable, read_asked_table, table_of_words
from lakeport.spark.bridge.proxies import CALLED_IN_WORDS, Proxy, for_java
from lakeport.spark.catalog import definitions
from lakeport.spark.catalog.changelog import asked_range, load_changes
from lakeport.spark.catalog.loading import (
    AskedWrite,
    asked_write,
    full_name,
    load_table,
    table_name,
    table_version,
)
from lakeport.spark.catalog.owners import OwnersCatalog, OwnersNames
from lakeport.spark.catalog.procedures import ProcedureProxy, grants_procedure
from lakeport.spark.catalog.replaced_table import ReplacementProxy, stage_replacement
from lakeport.spark.catalog.staged_table import NewTableProxy, stage_table
from lakeport.spark.catalog.views import find_view, view_relation
from lakeport.spark.statements import STATEMENT_PROPERTY, statement_of_thread
from lakeport.sql.grants.call import GRANTS
from lakeport.sql.unsupported_statements import rows_are_not_written
from lakeport.transactions.statement import CatalogAccess, Statement

__all__ = ["CatalogProxy"]

_IDENTIFIER = CATALOG + "Identifier"


class CatalogProxy(Proxy):
    """Names, tables and procedures of one catalog. Spark calls it from many threads.

    Args:
        jvm: The JVM.
        registry: The catalogs.
        catalog: The catalog's name.
        owners: With whose rights it is read, where it is found through a view.
    """

    class Java:
        implements: ClassVar[list[str]] = [
            CATALOG + "StagingTableCatalog",
            CATALOG + "SupportsNamespaces",
            CATALOG + "ProcedureCatalog",
            CATALOG + "FunctionCatalog",
            CALLED_IN_WORDS,
        ]

    def __init__(self, jvm: Jvm, registry: CatalogRegistry, catalog: str, owners: OwnersCatalog | None = None) -> None:
        super().__init__(jvm)
        self._registry = registry
        self._catalog = catalog
        self._owners = owners

    def initialize(self, name: str, options: JavaObject) -> None:
        """Does nothing: the registry has the configuration."""

    def name(self) -> str:
        """The catalog's name, in the text of a view that which it has there."""
        return self._catalog if self._owners is None else self._owners.name

    def capabilities(self) -> JavaObject:
        """No optional capabilities."""
        return self._jvm.cls("java.util.Collections").emptySet()

    def tableStateOptionKeys(self) -> JavaObject:
        """The read options that change the columns, which Spark 4.3 and later passes to ``loadTable``.

        They are those of all connectors, since a table may be read through another catalog.
        """
        names = self._registry.plugins.column_options
        key = ("column options", names)
        if key not in self._jvm.shared:
            found = self._jvm.cls("java.util.HashSet")()
            for name in sorted(names):
                found.add(name)
            self._jvm.shared[key] = found
        return self._jvm.shared[key]

    def defaultNamespace(self) -> JavaObject:
        """``default``, as in Hive."""
        return self._jvm.strings(["default"])

    # namespaces

    def listNamespaces(self, *parent: JavaObject) -> JavaObject:
        """All schemas; none below a schema."""
        above = self._jvm.texts(parent[0]) if parent else []
        if above:
            self._schema(above)
            return self._jvm.string_rows([])
        return self._jvm.string_rows([[name] for name in list_catalog(self._access()).schemas()])

    def namespaceExists(self, namespace: JavaObject) -> bool:
        """Whether the schema exists."""
        parts = self._jvm.texts(namespace)
        if not parts:
            return True
        return len(parts) == 1 and list_catalog(self._access()).has_schema(parts[0].lower())

    def loadNamespaceMetadata(self, namespace: JavaObject) -> JavaObject:
        """Properties of a schema, such as comment and location."""
        parts = self._jvm.texts(namespace)
        if not parts:
            return self._jvm.string_map([])
        schema = self._schema(parts)
        access = self._access()
        with access.lock:
            if not access.metadata.schema_exists(access.session, schema):
                return self._jvm.string_map([])  # a schema about the catalog
            properties = access.metadata.get_schema_properties(access.session, schema)
        return self._jvm.string_map(properties.items())

    def createNamespace(self, namespace: JavaObject, metadata: JavaObject) -> None:
        """``CREATE SCHEMA``."""
        parts = self._jvm.texts(namespace)
        if len(parts) != 1:
            raise no_such_namespace(self._jvm, parts)
        definitions.create_namespace(self._jvm, self._access(), parts[0].lower(), metadata)

    def alterNamespace(self, namespace: JavaObject, changes: JavaObject) -> None:
        """``COMMENT ON SCHEMA``, ``ALTER SCHEMA``."""
        schema = self._schema(self._jvm.texts(namespace))
        definitions.alter_namespace(self._jvm, self._access(), schema, changes)

    def dropNamespace(self, namespace: JavaObject, cascade: bool) -> bool:
        """``DROP SCHEMA``."""
        definitions.drop_namespace(self._access(), self._schema(self._jvm.texts(namespace)), cascade)
        return True

    # tables

    def listTables(self, namespace: JavaObject) -> JavaObject:
        """Tables of a schema."""
        return identifiers(self._jvm, namespace, self._table_names(namespace))

    def listTableSummaries(self, namespace: JavaObject) -> JavaObject:
        """Tables of a schema with their kind, without loading each."""
        return table_summaries(self._jvm, namespace, self._table_names(namespace), "EXTERNAL")

    def tableExists(self, ident: JavaObject) -> bool:
        """Whether the table exists, even if it cannot be read."""
        try:
            load_table(self._jvm, self._access(), table_name(self._jvm, self._catalog, ident), None)
        except (TableNotFoundError, SchemaNotFoundError):
            return False
        except NotSupportedError:
            return True
        return True

    def loadTable(self, ident: JavaObject, *context: object) -> Proxy | JavaObject:
        """The table at its newest snapshot, or as of the version that the query names; or to add rows to."""
        return self._load(read_asked_table(self._jvm, ident, context, STATEMENT_PROPERTY))

    def _called_in_words(self, name: str, words: str) -> object:
        return self._load(table_of_words(words)) if name == "loadTable" else super()._called_in_words(name, words)

    def _load(self, asked: AskedTable) -> Proxy | JavaObject:
        write = asked_write(asked)
        if write is not None:
            return self._load_written(asked, write)
        version = table_version(asked.version)
        access = self._statement(asked.statement).access(self._catalog)
        options = {key.lower(): text for key, text in asked.options.items()}
        try:
            name = full_name(self._catalog, asked.namespace, asked.name)
            return load_table(self._jvm, access, name, version, options)
        except (TableNotFoundError, SchemaNotFoundError) as error:
            raise no_such_table(self._jvm, self._ident(asked)) from error
        except NotSupportedError:
            view = find_view(access, name)
            if view is None:
                raise
            if version is not None:
                raise NotSupportedError(f"the view {view.name} has no older versions; leave out AS OF") from None
            return view_relation(self._jvm, self._catalog, view, self._names_below(access, view))

    def loadChangelog(self, ident: JavaObject, context: JavaObject, options: JavaObject) -> Proxy:
        """The changes of a table in a range of versions (Spark 4.2 and later)."""
        change_range = asked_range(self._jvm, context.range())
        try:
            return load_changes(self._jvm, self._access(), ident, change_range, context)
        except NotSupportedError as error:
            raise as_illegal_argument(self._jvm, error) from error

    def invalidateTable(self, ident: JavaObject) -> None:
        """Does nothing: nothing is cached between statements here."""

    def createTable(self, ident: JavaObject, *definition: JavaObject) -> None:
        """``CREATE TABLE``; Spark loads the table itself where it needs it."""
        name = table_name(self._jvm, self._catalog, ident)
        definitions.create_table(self._jvm, self._access(), name, definition)

    def createTableLike(self, *args: object) -> object:
        """Refused."""
        raise NotSupportedError("CREATE TABLE ... LIKE is not supported; name the columns, or LOCATION alone")

    def stageCreate(self, ident: JavaObject, *definition: JavaObject) -> NewTableProxy:
        """``CREATE TABLE AS SELECT``."""
        try:
            name = table_name(self._jvm, self._catalog, ident)
            return stage_table(self._jvm, self._access(), name, definition)
        except NotSupportedError as error:
            raise as_illegal_argument(self._jvm, error) from error

    def stageReplace(self, ident: JavaObject, *definition: JavaObject) -> ReplacementProxy:
        """``REPLACE TABLE``, with a query or without one."""
        try:
            name = table_name(self._jvm, self._catalog, ident)
            return stage_replacement(self._jvm, self._access(), name, definition)
        except TableNotFoundError as error:
            raise no_such_table(self._jvm, ident) from error
        except NotSupportedError as error:
            raise as_illegal_argument(self._jvm, error) from error

    def stageCreateOrReplace(self, ident: JavaObject, *definition: JavaObject) -> NewTableProxy | ReplacementProxy:
        """``CREATE OR REPLACE TABLE``, with a query or without one."""
        exists = self.tableExists(ident)
        return self.stageReplace(ident, *definition) if exists else self.stageCreate(ident, *definition)

    def alterTable(self, ident: JavaObject, changes: JavaObject) -> Proxy | JavaObject:
        """``ALTER TABLE`` of comments and properties."""
        name = table_name(self._jvm, self._catalog, ident)
        definitions.alter_table(self._jvm, self._access(), name, changes)
        return self.loadTable(ident)

    def dropTable(self, ident: JavaObject) -> bool:
        """``DROP TABLE``."""
        return self._drop(ident, purge=False)

    def purgeTable(self, ident: JavaObject) -> bool:
        """``DROP TABLE ... PURGE``."""
        return self._drop(ident, purge=True)

    def renameTable(self, old: JavaObject, new: JavaObject) -> None:
        """``ALTER TABLE ... RENAME TO``."""
        name = table_name(self._jvm, self._catalog, old)
        # Spark passes the new name as written: with the catalog, without it, or without a schema.
        schema = [part.lower() for part in self._jvm.texts(new.namespace())] or [name.schema]
        if len(schema) > 1 and schema[0] == self._catalog:
            schema = schema[1:]
        target = self._jvm.cls(_IDENTIFIER).of(self._jvm.strings(schema), new.name())
        definitions.rename_table(self._access(), name, table_name(self._jvm, self._catalog, target))

    # procedures

    def loadProcedure(self, ident: JavaObject) -> ProcedureProxy:
        """The procedure of a ``system`` name."""
        access = self._access()
        schema, name = ".".join(self._jvm.texts(ident.namespace())).lower(), str(ident.name()).lower()
        ours = (schema, name) == GRANTS
        return ProcedureProxy(
            self._jvm, grants_procedure(access) if ours else find_procedure(access, schema, name), access
        )

    def listProcedures(self, namespace: JavaObject) -> JavaObject:
        """The procedures of ``system``."""
        identifier, parts = self._jvm.cls(_IDENTIFIER), [part.lower() for part in self._jvm.texts(namespace)]
        made = [
            identifier.of(self._jvm.strings([procedure.schema]), procedure.name)
            for procedure in self._access().connector.procedures
            if parts in ([], [procedure.schema])
        ]
        return self._jvm.array(_IDENTIFIER, made)

    # functions: none that users call, but without this ability Spark does not say that a name is unknown, and shows no
    # functions; those of buckets it asks for when it deals rows out to writing tasks

    def listFunctions(self, namespace: JavaObject) -> JavaObject:
        """None: all functions are Spark's own."""
        parts = self._jvm.texts(namespace)
        if parts:
            self._schema(parts)
        return self._jvm.array(_IDENTIFIER, [])

    def functionExists(self, ident: JavaObject) -> bool:
        """No."""
        return False

    def loadFunction(self, ident: JavaObject) -> JavaObject:
        """The bucket function of a write; for other names Spark's error: there is no such function."""
        found = bucket_function(self._jvm, str(ident.name()))
        if found is not None:
            return found
        raise no_such_function(self._jvm, ident)

    def _load_written(self, asked: AskedTable, write: AskedWrite) -> Proxy:
        access = self._statement(asked.statement).access(self._catalog)
        try:
            overwrites = write.overwrites and isinstance(access.metadata, SupportsOverwrite)
            changes = write.changes and isinstance(access.metadata, SupportsMerge)
            if not (write.only_adds or overwrites or changes):
                raise self._rows_are_not_written(write.statement)
            name = full_name(self._catalog, asked.namespace, asked.name)
            try:
                resolve_target(access.statement, name)
            except NotSupportedError:
                if find_view(access, name) is None:
                    raise
                raise NotSupportedError(f"{name} is a view, which takes no rows", READ_ONLY_CATALOG) from None
            return load_table(self._jvm, access, name, None)
        except (TableNotFoundError, SchemaNotFoundError) as error:
            raise no_such_table(self._jvm, self._ident(asked)) from error
        except NotSupportedError as error:
            raise as_illegal_argument(self._jvm, error) from error

    def _rows_are_not_written(self, statement: str) -> NotSupportedError:
        adds = isinstance(self._access().metadata, SupportsInsert)
        return rows_are_not_written(self._catalog, statement, adds=adds)

    def _drop(self, ident: JavaObject, *, purge: bool) -> bool:
        try:
            definitions.drop_table(self._access(), table_name(self._jvm, self._catalog, ident), purge=purge)
        except (TableNotFoundError, SchemaNotFoundError):
            return False
        return True

    def _ident(self, asked: AskedTable) -> JavaObject:
        return self._jvm.cls(_IDENTIFIER).of(self._jvm.strings(asked.namespace), asked.name)

    def _access(self) -> CatalogAccess:
        return self._statement().access(self._catalog)

    def _statement(self, name: str | None = None) -> Statement:
        found = statement_of_thread(self._jvm, self._registry, name)
        return found if self._owners is None else self._owners.statement(found)

    def _names_below(self, access: CatalogAccess, view: ViewDefinition) -> OwnersNames | None:
        """Names by which the text of a view finds catalogs with the rights of its owner; ``None``: their own ones."""
        owner = access.statement.below(access, view).view_owner
        if owner is None:
            return None

        def make(owners: OwnersCatalog) -> JavaObject:
            return for_java(self._jvm, CatalogProxy(self._jvm, self._registry, owners.catalog, owners))

        return OwnersNames(self._jvm, self._registry.names(), access.statement, owner, make)

    def _schema(self, parts: list[str]) -> str:
        access = self._access()
        if len(parts) != 1:
            raise no_such_namespace(self._jvm, parts)
        if list_catalog(access).has_schema(parts[0].lower()):
            return parts[0].lower()
        try:
            with access.lock:
                return resolve_schema(access.session, access.metadata, self._catalog, parts[0])
        except SchemaNotFoundError as error:
            raise no_such_namespace(self._jvm, parts) from error

    def _table_names(self, namespace: JavaObject) -> list[str]:
        return list_catalog(self._access()).table_names(self._schema(self._jvm.texts(namespace)))

    def _known(self) -> KnownAnswers:
        found = {
            "name": answers.plain(self.name()),
            "capabilities": answers.string_set([]),
            "defaultNamespace": answers.array("java.lang.String", [answers.plain("default")]),
            "tableStateOptionKeys": answers.string_set(self._registry.plugins.column_options),
        }
        return KnownAnswers(
            {**self._named(), **found},
            in_words=frozenset({"loadTable"}),
            kept_between_calls={"statement": STATEMENT_PROPERTY},
        )

    def _identity(self) -> object:
        # Another session of this Spark may have other catalogs, and Spark shares what it caches by name.
        return ("catalog", self.name(), id(self._registry))
