"""Calls about another of the metastore's own catalogs than its default one (Hive 3 and later)."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature

from catalog.metastore._thrift.lakeport_metastore import ThriftHiveMetastore, ttypes

__all__ = ["CatalogClient"]

_CATALOG_FIELDS = ("catName", "catalogName")
_DATABASE_ARGUMENTS = ("db_name", "dbname")
_ABOUT_DATABASES = ("get_database", "drop_database", "get_databases")


class CatalogClient:
    """A client whose every call is about one catalog: no caller need know.

    A request with a field for the catalog gets it there, and all the structs in it do; a database's name that is an
    argument of its own gets the catalog in front, as ``@catalog#database`` (``MetaStoreUtils.prependCatalogToDbName``).
    Transactions, write ids and locks know no catalogs: they stay as they are.

    Args:
        client: Makes the calls.
        catalog: Name of the catalog.
    """

    def __init__(self, client: ThriftHiveMetastore.Client, catalog: str) -> None:
        self._client = client
        self._catalog = catalog

    def get_all_databases(self) -> list[str]:
        """Names of the catalog's databases."""
        names: list[str] = self._client.get_databases(self._qualified(""))
        return names

    def __getattr__(self, method: str) -> Callable[..., object]:
        call = getattr(self._client, method)
        names = list(signature(call).parameters)

        def within(*arguments: object) -> object:
            qualified = zip(names, arguments, strict=False)
            return call(*[self._argument(method, name, value) for name, value in qualified])

        return within

    def _argument(self, method: str, name: str, value: object) -> object:
        if isinstance(value, str):
            is_database = name in _DATABASE_ARGUMENTS or (method in _ABOUT_DATABASES and name in ("name", "pattern"))
            return self._qualified(value) if is_database else value
        self._fill(value)
        return value

    def _fill(self, value: object) -> None:
        if isinstance(value, (list, tuple)):
            for one in value:
                self._fill(one)
        if not hasattr(value, "thrift_spec"):
            return
        if isinstance(value, ttypes.GetPartitionsByNamesRequest):
            value.db_name = self._qualified(value.db_name)
        for name in getattr(value, "__slots__", ()):
            if name in _CATALOG_FIELDS:
                setattr(value, name, self._catalog)
            else:
                self._fill(getattr(value, name))

    def _qualified(self, database: str) -> str:
        return database if database.startswith("@") else f"@{self._catalog}#{database}"
