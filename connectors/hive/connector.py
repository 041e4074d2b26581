"""Assembly of the hive connector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from catalog.metastore.factory import Metastore, connect
from catalog.metastore.shared_metastore import SharedMetastore
from connector_spi.connector import Connector, ConnectorContext, ConnectorFactory, Plugin
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.metadata import ConnectorMetadata
from connector_spi.optional.procedures import Procedure
from connector_spi.page_source import PageSourceProvider
from connector_spi.properties import PropertyMetadata
from connector_spi.session import ConnectorSession
from connector_spi.splits import SplitManager
from connector_spi.system_tables import SystemTable
from connectors.hive.config import CONFIG_PROPERTIES, TRANSACTIONAL_READ_LOCK, HiveConfig, session_properties
from connectors.hive.formats.file_format import FormatSettings
from connectors.hive.metadata import HiveMetadata
from connectors.hive.page_source import HivePageSourceProvider
from connectors.hive.procedures import HiveProcedures
from connectors.hive.splits import HiveSplitManager
from connectors.hive.transaction import HiveTransaction, hive_transaction
from connectors.hive.transactions.heartbeats import Heartbeats
from connectors.hive.transactions.snapshots import SnapshotPolicy, StatementSnapshots
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HiveConnector", "HiveFactory", "HivePlugin"]


class HiveConnector(Connector):
    """Tables of one metastore.

    Args:
        config: The catalog's settings.
        metastore: The metastore; closed with the connector.
    """

    def __init__(self, config: HiveConfig, metastore: Metastore) -> None:
        self._config = config
        self._files = FileSystem(config.storage_options)
        self._split_manager = HiveSplitManager(config, self._files)
        settings = FormatSettings(
            orc_by_name=config.orc_by_name,
            parquet_by_name=config.parquet_by_name,
            parquet_zone=config.parquet_zone,
            binary_zone=config.binary_zone,
            orc_zone=config.orc_zone,
            avro_schema_hosts=config.avro_schema_hosts,
        )
        self._page_source_provider = HivePageSourceProvider(self._files, settings)
        self._heartbeats = Heartbeats(metastore.transactions, config.heartbeat_interval)
        self._shared = SharedMetastore(metastore, config.cache)
        self.metastore = self._shared.metastore

    def begin_transaction(self, session: ConnectorSession) -> ConnectorTransaction:
        policy = SnapshotPolicy(
            session.flag(TRANSACTIONAL_READ_LOCK),
            self._config.lock_max_wait,
            self._config.assume_committed_write_ids,
            session.user,
            f"lakeport {session.query_id}",
        )
        snapshots = StatementSnapshots(self.metastore.as_user(session.user).transactions, self._heartbeats, policy)
        calls = self._shared.history.begin(session.query_id, session.user, session.start)
        return HiveTransaction(self._shared.reads_of(session.user), snapshots, calls)

    def get_metadata(self, transaction: ConnectorTransaction) -> ConnectorMetadata:
        hive = hive_transaction(transaction)
        if hive.metadata is None:
            hive.metadata = HiveMetadata(self._config, self._files, hive, self.metastore)
        return hive.metadata

    @property
    def split_manager(self) -> SplitManager:
        return self._split_manager

    @property
    def page_source_provider(self) -> PageSourceProvider:
        return self._page_source_provider

    @property
    def procedures(self) -> Sequence[Procedure]:
        own = self._shared.per_user(lambda metastore: HiveProcedures(metastore, self._files).procedures())
        shared = (
            self._split_manager.listings.flushed_by(one) if one.name == "flush_metadata_cache" else one
            for one in self._shared.procedures()
        )
        return (*own, *shared)

    @property
    def system_tables(self) -> Sequence[SystemTable]:
        return self._shared.system_tables()

    @property
    def session_properties(self) -> Sequence[PropertyMetadata[object]]:
        return session_properties(self._config)

    def describe(self) -> Mapping[str, str]:
        """The systems that the catalog is connected to, for ``lakeport catalogs check``."""
        return {"metastore": self._config.metastore.place()}

    def shutdown(self) -> None:
        self._heartbeats.close()
        self._shared.close()


class HiveFactory(ConnectorFactory):
    """``connector.name=hive``."""

    @property
    def name(self) -> str:
        return "hive"

    @property
    def aliases(self) -> Sequence[str]:
        return ("hive-hadoop2",)

    @property
    def config_properties(self) -> Sequence[PropertyMetadata[object]]:
        return CONFIG_PROPERTIES

    def create(self, catalog: str, properties: Mapping[str, object], context: ConnectorContext) -> HiveConnector:
        config = HiveConfig.from_properties(properties)
        return HiveConnector(config, connect(config.metastore))


class HivePlugin(Plugin):
    """Brings the hive connector."""

    def connector_factories(self) -> Iterable[ConnectorFactory]:
        return (HiveFactory(),)
