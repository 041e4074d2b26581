"""Puts the hudi connector together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from catalog.access_control.catalog_security import catalog_security
from catalog.access_control.sql_standard.known_grants import KnownGrants
from catalog.access_control.sql_standard.statements import MetastoreGrants
from catalog.metastore.cache.metastore import CachingMetastore
from catalog.metastore.cache.policy import cache_policy
from catalog.metastore.client import MetastoreClient
from catalog.metastore.factory import Metastore
from catalog.metastore.kinds import metastore_kinds
from catalog.metastore.shared_metastore import SharedMetastore
from connector_spi.connector import SPI_VERSION, ConnectorContext, ConnectorFactory, Plugin
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.errors import InternalError
from connector_spi.optional.procedures import Procedure
from connector_spi.properties import PropertyMetadata, PropertyValues
from connector_spi.security import ConnectorAccessControl
from connector_spi.session import ConnectorSession
from connector_spi.system_tables import SystemTable
from connectors.hudi.config import (
    CONFIG_PROPERTIES,
    PLANNING_CACHE,
    SESSION_PROPERTIES,
    SPLIT_LOADER_PARALLELISM,
    hidden_columns,
)
from connectors.hudi.metadata import HudiMetadata
from connectors.hudi.page_source import HudiPageSourceProvider
from connectors.hudi.planning.missing_partitions import MissingPartitions
from connectors.hudi.read_options import COLUMN_OPTIONS
from connectors.hudi.registration.register import register_table_procedure, unregister_table_procedure
from connectors.hudi.registration.registered_table import hudi_location
from connectors.hudi.snapshots.kept_snapshots import forget_tables
from connectors.hudi.splits import HudiSplitManager
from connectors.hudi.transaction import HudiTransaction
from connectors.toolkit.caching.cache_state import cache_states
from connectors.toolkit.storage.filesystem import FileSystem
from connectors.toolkit.storage.properties import storage_options
from connectors.toolkit.storage.user_credentials import StorageConnector

__all__ = ["HudiConnector", "HudiFactory", "HudiPlugin"]


class HudiConnector(StorageConnector):
    """A live hudi catalog.

    Args:
        config: Its properties.
        metastore: Where its tables are named; closed with it.
    """

    def __init__(self, config: PropertyValues, metastore: Metastore) -> None:
        self._config = config
        self._shared = SharedMetastore(metastore, cache_policy(config))
        self._metastore = self._shared.metastore
        self._security = catalog_security(config, self._metastore)
        self._pool = ThreadPoolExecutor(config.get(SPLIT_LOADER_PARALLELISM), thread_name_prefix="hudi-splits")
        self._read_by(FileSystem(storage_options(config)))

    def begin_transaction(self, session: ConnectorSession) -> ConnectorTransaction:
        transaction = HudiTransaction(self._files, self._pool, session.get(PLANNING_CACHE))
        calls = self._shared.history.begin(session.query_id, session.user, session.start)
        client = CachingMetastore(self._shared.reads_of(session.user), calls)
        arguments = (client, self._files, transaction, hidden_columns(self._config), self._metastore)
        grants = self._security.grants
        transaction.metadata = HudiMetadata(*arguments) if grants is None else _GrantingMetadata(grants, *arguments)
        return transaction

    def get_metadata(self, transaction: ConnectorTransaction) -> HudiMetadata:
        metadata = transaction.metadata if isinstance(transaction, HudiTransaction) else None
        if not isinstance(metadata, HudiMetadata):
            raise InternalError("the transaction is not of a hudi catalog")
        return metadata

    @property
    def split_manager(self) -> HudiSplitManager:
        return self._split_manager

    @property
    def page_source_provider(self) -> HudiPageSourceProvider:
        return HudiPageSourceProvider(self._files)

    @property
    def procedures(self) -> Sequence[Procedure]:
        register = self._shared.per_user(
            lambda metastore: (
                register_table_procedure(metastore.reads, metastore.writes, self._files),
                unregister_table_procedure(metastore.reads, metastore.writes),
            )
        )
        return (*register, *self._shared.procedures(self._flush))

    @property
    def system_tables(self) -> Sequence[SystemTable]:
        return self._shared.system_tables(lambda: map(asdict, cache_states()))

    @property
    def access_control(self) -> ConnectorAccessControl | None:
        return self._security.control

    @property
    def session_properties(self) -> Sequence[PropertyMetadata[object]]:
        return (*self._config.session_properties(CONFIG_PROPERTIES), *SESSION_PROPERTIES)

    def describe(self) -> Mapping[str, str]:
        """What the catalog is connected to, for ``lakeport catalogs check``."""
        return self._shared.describe()

    def _read_by(self, files: FileSystem) -> None:
        """Sets all that reads storage."""
        self._files = files
        self._split_manager = HudiSplitManager(self._pool, MissingPartitions(self._shared.reads_of, files))

    def _flush(self, schema: str | None, table: str | None) -> int:
        """Drops what planning has kept of a table; of all tables, and blocks of files, where one is not named."""
        if schema is None or table is None:
            return self._files.forget_blocks() + forget_tables(self._files)
        entry = self._metastore.reads.get_table(schema, table)
        return 0 if entry is None else forget_tables(self._files, hudi_location(entry, self._files))

    def shutdown(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._shared.close()


class _GrantingMetadata(MetastoreGrants, HudiMetadata):
    """The metadata of a catalog in which grants count."""

    def __init__(
        self,
        grants: KnownGrants,
        client: MetastoreClient,
        files: FileSystem,
        transaction: HudiTransaction,
        columns_to_hide: frozenset[str],
        metastore: Metastore,
    ) -> None:
        MetastoreGrants.__init__(self, grants)
        HudiMetadata.__init__(self, client, files, transaction, columns_to_hide=columns_to_hide, defined_in=metastore)


class HudiFactory(ConnectorFactory):
    """Makes catalogs of ``connector.name=hudi``."""

    spi_version = SPI_VERSION

    @property
    def name(self) -> str:
        return "hudi"

    @property
    def config_properties(self) -> Sequence[PropertyMetadata[object]]:
        return (*metastore_kinds().properties, *CONFIG_PROPERTIES)

    @property
    def column_options(self) -> frozenset[str]:
        return COLUMN_OPTIONS

    def create(self, catalog: str, properties: PropertyValues, context: ConnectorContext) -> HudiConnector:
        return HudiConnector(properties, metastore_kinds().open(properties))


class HudiPlugin(Plugin):
    """Brings the ``hudi`` connector."""

    spi_version = SPI_VERSION

    def connector_factories(self) -> Iterable[ConnectorFactory]:
        return (HudiFactory(),)
