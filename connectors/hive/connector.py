"""Assembly of the hive connector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from catalog.access_control.catalog_security import catalog_security
from catalog.access_control.sql_standard.known_grants import KnownGrants
from catalog.access_control.sql_standard.statements import MetastoreGrants
from catalog.metastore.cache.policy import cache_policy
from catalog.metastore.factory import Metastore
from catalog.metastore.kinds import metastore_kinds
from catalog.metastore.shared_metastore import SharedMetastore
from connector_spi.connector import SPI_VERSION, ConnectorContext, ConnectorFactory, Plugin
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.metadata import ConnectorMetadata
from connector_spi.optional.page_sink import PageSinkProvider
from connector_spi.optional.procedures import Procedure
from connector_spi.page_source import PageSourceProvider
from connector_spi.properties import PropertyMetadata, PropertyValues
from connector_spi.security import ConnectorAccessControl
from connector_spi.session import ConnectorSession
from connector_spi.splits import SplitManager
from connector_spi.system_tables import SystemTable
from connectors.hive.compaction.procedures import CompactionProcedures
from connectors.hive.config import (
    ASSUME_COMMITTED_WRITE_IDS,
    CONFIG_PROPERTIES,
    HEARTBEAT_INTERVAL,
    LOCK_MAX_WAIT,
    ORC_BY_NAME,
    ORC_ZONE,
    PARQUET_BY_NAME,
    PARQUET_ZONE,
    RCFILE_ZONE,
    TRANSACTIONAL_READ_LOCK,
)
from connectors.hive.formats.avro.schema_url import HOSTS
from connectors.hive.formats.file_format import FormatSettings
from connectors.hive.listing.cache import ListingCache, listing_policy
from connectors.hive.metadata import HiveMetadata
from connectors.hive.page_source import HivePageSourceProvider
from connectors.hive.procedures import HiveProcedures
from connectors.hive.splits import HiveSplitManager
from connectors.hive.transaction import HiveTransaction, hive_transaction
from connectors.hive.transactions.heartbeats import Heartbeats
from connectors.hive.transactions.snapshots import SnapshotPolicy, StatementSnapshots
from connectors.hive.transactions.writes import WriteTransaction
from connectors.hive.write.loading import load_procedure
from connectors.hive.write.sink.page_sink import HivePageSinkProvider
from connectors.toolkit.caching.cache_state import cache_states
from connectors.toolkit.storage.filesystem import FileSystem
from connectors.toolkit.storage.properties import storage_options
from connectors.toolkit.storage.user_credentials import StorageConnector

__all__ = ["HiveConnector", "HiveFactory", "HivePlugin"]


class HiveConnector(StorageConnector):
    """Tables of one metastore.

    Args:
        config: The catalog's settings.
        metastore: The metastore; closed with the connector.
    """

    def __init__(self, config: PropertyValues, metastore: Metastore) -> None:
        self._config = config
        self._listings = ListingCache(listing_policy(config))
        self._heartbeats = Heartbeats(metastore.transactions, config.get(HEARTBEAT_INTERVAL))
        self._shared = SharedMetastore(metastore, cache_policy(config))
        self.metastore = self._shared.metastore
        self._security = catalog_security(config, self.metastore)
        self._read_by(FileSystem(storage_options(config)))

    def begin_transaction(self, session: ConnectorSession) -> ConnectorTransaction:
        policy = SnapshotPolicy(
            session.get(TRANSACTIONAL_READ_LOCK),
            self._config.get(LOCK_MAX_WAIT),
            self._config.get(ASSUME_COMMITTED_WRITE_IDS),
            session.user,
            f"lakeport {session.query_id}",
        )
        client = self.metastore.as_user(session.user).transactions
        snapshots = StatementSnapshots(client, self._heartbeats, policy)
        writes = WriteTransaction(client, self._heartbeats, policy.lock_max_wait, policy.user, policy.agent)
        calls = self._shared.history.begin(session.query_id, session.user, session.start)
        return HiveTransaction(self._shared.reads_of(session.user), snapshots, writes, calls)

    def get_metadata(self, transaction: ConnectorTransaction) -> ConnectorMetadata:
        hive = hive_transaction(transaction)
        if hive.metadata is None:
            grants = self._security.grants
            arguments = (self._config, self._files, hive, self.metastore, self._page_source_provider)
            hive.metadata = HiveMetadata(*arguments) if grants is None else _GrantingMetadata(grants, *arguments)
        return hive.metadata

    @property
    def split_manager(self) -> SplitManager:
        return self._split_manager

    @property
    def page_source_provider(self) -> PageSourceProvider:
        return self._page_source_provider

    @property
    def page_sink_provider(self) -> PageSinkProvider:
        return HivePageSinkProvider(self._files)

    @property
    def procedures(self) -> Sequence[Procedure]:
        own = self._shared.per_user(lambda metastore: HiveProcedures(metastore, self._files).procedures())
        compactions = self._shared.per_user(self._compaction_procedures)
        return (
            *own,
            load_procedure(self, self._files),
            *compactions,
            *self._shared.procedures(self._flush),
        )

    def _flush(self, schema: str | None, table: str | None) -> int:
        """Drops listings of a table; of all tables, and blocks of files with them, where one is not named."""
        blocks = self._files.forget_blocks() if schema is None else 0
        return blocks + self._listings.flush(schema, table)

    @property
    def system_tables(self) -> Sequence[SystemTable]:
        return self._shared.system_tables(lambda: map(asdict, (self._listings.state, *cache_states())))

    @property
    def access_control(self) -> ConnectorAccessControl | None:
        return self._security.control

    @property
    def session_properties(self) -> Sequence[PropertyMetadata[object]]:
        return self._config.session_properties(CONFIG_PROPERTIES)

    def describe(self) -> Mapping[str, str]:
        """The systems that the catalog is connected to, for ``lakeport catalogs check``."""
        return self._shared.describe()

    def shutdown(self) -> None:
        self._heartbeats.close()
        self._shared.close()

    def _read_by(self, files: FileSystem) -> None:
        """Sets all that reads storage."""
        config = self._config
        settings = FormatSettings(
            orc_by_name=config.get(ORC_BY_NAME),
            parquet_by_name=config.get(PARQUET_BY_NAME),
            parquet_zone=config.get(PARQUET_ZONE),
            binary_zone=config.get(RCFILE_ZONE),
            orc_zone=config.get(ORC_ZONE),
            avro_schema_hosts=tuple(sorted(config.get(HOSTS))),
        )
        self._files = files
        self._page_source_provider = HivePageSourceProvider(files, settings)
        self._split_manager = HiveSplitManager(config, files, self._page_source_provider, self._listings)

    def _compaction_procedures(self, metastore: Metastore) -> Sequence[Procedure]:
        wait = self._config.get(LOCK_MAX_WAIT)
        made = CompactionProcedures(metastore, self._files, self._page_source_provider, self._heartbeats, wait)
        return made.procedures()


class _GrantingMetadata(MetastoreGrants, HiveMetadata):
    """The metadata of a catalog in which grants count."""

    def __init__(
        self,
        grants: KnownGrants,
        config: PropertyValues,
        files: FileSystem,
        transaction: HiveTransaction,
        metastore: Metastore,
        pages: PageSourceProvider,
    ) -> None:
        MetastoreGrants.__init__(self, grants)
        HiveMetadata.__init__(self, config, files, transaction, metastore=metastore, pages=pages)


class HiveFactory(ConnectorFactory):
    """``connector.name=hive``."""

    spi_version = SPI_VERSION

    @property
    def name(self) -> str:
        return "hive"

    @property
    def aliases(self) -> Sequence[str]:
        return ("hive-hadoop2",)

    @property
    def config_properties(self) -> Sequence[PropertyMetadata[object]]:
        return (*metastore_kinds().properties, *CONFIG_PROPERTIES)

    def create(self, catalog: str, properties: PropertyValues, context: ConnectorContext) -> HiveConnector:
        return HiveConnector(properties, metastore_kinds().open(properties))


class HivePlugin(Plugin):
    """Brings the hive connector."""

    spi_version = SPI_VERSION

    def connector_factories(self) -> Iterable[ConnectorFactory]:
        return (HiveFactory(),)
