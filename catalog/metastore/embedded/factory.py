"""``hive.metastore=embedded``: a SQLite file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from catalog.metastore.embedded.grants import EmbeddedGrants
from catalog.metastore.embedded.metastore import EmbeddedMetastore, open_store
from catalog.metastore.embedded.sqlite_store import SqliteStore
from catalog.metastore.embedded.transactions import EmbeddedTransactions
from catalog.metastore.error_codes import NOT_CREATED
from catalog.metastore.factory import Metastore, MetastoreClients, MetastoreFactory, assemble
from connector_spi.errors import InvalidPropertyError, MetastoreError
from connector_spi.properties import PropertyMetadata, PropertyValues, string_list_property, string_property

__all__ = ["EmbeddedMetastoreFactory", "open_embedded"]

_PATH = string_property(
    "hive.metastore.embedded.path", "SQLite file of an embedded metastore; the first schema or table creates it."
)
_ADMINISTRATORS = string_list_property(
    "hive.metastore.embedded.users-in-admin-role",
    "Users who have the role admin of an embedded metastore from the start, for hive.security=sql-standard.",
)


class EmbeddedMetastoreFactory(MetastoreFactory):
    """``hive.metastore=embedded``."""

    @property
    def name(self) -> str:
        return "embedded"

    @property
    def properties(self) -> Sequence[PropertyMetadata[object]]:
        return (_PATH, _ADMINISTRATORS)

    def create(self, config: PropertyValues) -> MetastoreClients:
        path = config.get(_PATH)
        if not path:
            raise InvalidPropertyError(f"hive.metastore=embedded needs {_PATH.name}, a SQLite file")
        return _clients(Path(path), config.get(_ADMINISTRATORS))


def open_embedded(path: Path) -> Metastore:
    """An embedded metastore with no catalog's properties around it.

    Args:
        path: The SQLite file; made by the first write if it is missing.
    """
    return assemble(_clients(path))


def _clients(path: Path, administrators: Iterable[str] = ()) -> MetastoreClients:
    store = open_store(path)
    reads = EmbeddedMetastore(store)
    return MetastoreClients(
        reads,
        description=f"embedded in {path}",
        writes=reads,
        transactions=EmbeddedTransactions(store),
        calls=store.statistics,
        addresses=frozenset({str(path.resolve())}),
        check=partial(_check, store),
        grants=EmbeddedGrants(store, sorted(administrators)),
    )


def _check(store: SqliteStore) -> None:
    if store.is_missing():
        raise MetastoreError(
            f"there is no embedded metastore {store.path}; check {_PATH.name}, or create the first schema or table, "
            "which creates it",
            NOT_CREATED,
        )
