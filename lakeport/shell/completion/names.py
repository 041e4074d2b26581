"""Names for completion, fetched in the background through Lakeport's own metadata, without Spark."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from catalog.resolver import ResolvedSystemTable
from connector_spi.names import CatalogSchemaTableName
from lakeport.catalog_session import AnySession
from lakeport.planning.redirection import list_catalog, resolve
from lakeport.transactions.engine_settings import ENGINE_PROPERTIES
from lakeport.transactions.plain_statement import plain_statement
from lakeport.transactions.statement import CatalogAccess

__all__ = ["NO_NAMES", "NameCache", "SortedNames"]

_FRESH_SECONDS = 60.0
_FAILED_SECONDS = 5.0
_WAIT_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class SortedNames:
    """Many names, sorted for fast search.

    Attributes:
        names: The names, sorted by their lower case.
        keys: The same names in lower case.
    """

    names: tuple[str, ...]
    keys: tuple[str, ...]

    @classmethod
    def of(cls, names: Iterable[str]) -> SortedNames:
        """Sorts names."""
        pairs = sorted({(name.lower(), name) for name in names})
        return cls(tuple(name for _, name in pairs), tuple(key for key, _ in pairs))

    def matching(self, word: str, limit: int) -> list[str]:
        """Names that begin with a word in lower case, then names that contain it."""
        first = bisect_left(self.keys, word)
        last = first
        while last < len(self.keys) and last - first < limit and self.keys[last].startswith(word):
            last += 1
        found = list(self.names[first:last])
        if len(word) < 2 or len(found) >= limit:
            return found
        for name, key in zip(self.names, self.keys, strict=True):
            if word in key and not key.startswith(word):
                found.append(name)
                if len(found) >= limit:
                    break
        return found


NO_NAMES = SortedNames((), ())


class NameCache:
    """Names, fetched by its own threads and cached for a minute; older ones are used while they are refreshed.

    No method waits longer than ``patience``: names that arrive later are announced by ``on_arrival``. A catalog that
    fails has no names, and is tried again some seconds later.

    Args:
        session: Its catalogs provide the names.
        on_arrival: Called in a thread of the cache when names arrive too late for a call.
        patience: Most seconds that a call waits.
    """

    def __init__(
        self, session: AnySession, on_arrival: Callable[[], None] = lambda: None, *, patience: float = _WAIT_SECONDS
    ) -> None:
        self._session = session
        self._on_arrival = on_arrival
        self._patience = patience
        self._executor = ThreadPoolExecutor(max_workers=4, thread_name_prefix="lakeport-names")
        self._asked: dict[tuple[str, ...], tuple[float, Future[SortedNames]]] = {}
        self._known: dict[tuple[str, ...], SortedNames] = {}

    def catalogs(self) -> SortedNames:
        """All catalogs."""
        return SortedNames.of(self._session.catalogs.shown_names())

    def schemas(self, catalog: str) -> SortedNames:
        """Schemas of a catalog."""
        return self._get(("schemas", catalog), lambda: _schemas(self._access(catalog)))

    def tables(self, catalog: str, schema: str) -> SortedNames:
        """Tables and views of a schema, including the catalog's own system tables."""
        return self._get(("tables", catalog, schema), lambda: _tables(self._access(catalog), schema))

    def columns(self, catalog: str, schema: str, table: str, *, hidden: bool = True) -> SortedNames:
        """Columns of a table, also of a system table.

        Args:
            catalog: The table's catalog.
            schema: The table's schema.
            table: The table's name.
            hidden: Whether to include the columns that ``*`` leaves out.
        """
        name = CatalogSchemaTableName(catalog, schema, table)
        kind = "all columns" if hidden else "columns"
        return self._get((kind, catalog, schema, table), lambda: _columns(self._access(catalog), name, hidden=hidden))

    def system_table_kinds(self, catalog: str) -> SortedNames:
        """The kinds of system tables, which follow a ``$``."""
        return self._get(("kinds", catalog), lambda: _kinds(self._access(catalog)))

    def procedures(self, catalog: str) -> SortedNames:
        """Procedures of the schema ``system``."""
        return self._get(("procedures", catalog), lambda: _procedures(self._access(catalog)))

    def settings(self) -> SortedNames:
        """Settings of the engine, and all session properties, with the prefix of their catalog."""
        return self._get(("settings",), self._settings)

    def functions(self) -> SortedNames:
        """The engine's functions, once it has started."""
        if not self._session.is_started:
            return NO_NAMES
        return self._get(("functions",), lambda: SortedNames.of(self._session.engine.function_names()))

    def forget(self) -> None:
        """Marks all names as outdated, so that they are fetched again."""
        self._asked.clear()

    def close(self) -> None:
        """Stops fetching; does not wait for running fetches."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _settings(self) -> SortedNames:
        found = list(self._session.engine.setting_names)
        for catalog in self._session.catalogs.shown_names():
            try:
                connector = self._session.catalogs.get(catalog)
            except Exception:
                continue  # a catalog that cannot be built has no properties
            found += [
                f"spark.lakeport.{catalog}.{one.name}" for one in (*ENGINE_PROPERTIES, *connector.session_properties)
            ]
        return SortedNames.of(found)

    def _access(self, catalog: str) -> CatalogAccess:
        return plain_statement(self._session.catalogs).access(catalog)

    def _get(self, key: tuple[str, ...], fetch: Callable[[], SortedNames]) -> SortedNames:
        begun, future = self._asked.get(key, (0.0, None))
        if future is None or self._is_stale(begun, future):
            try:
                future = self._executor.submit(fetch)
            except RuntimeError:
                return NO_NAMES  # closed
            self._asked[key] = (time.monotonic(), future)
        if not future.done():
            wait([future], self._patience)
            if not future.done():
                future.add_done_callback(lambda done: None if done.cancelled() else self._on_arrival())
                return self._known.get(key, NO_NAMES)
        if future.cancelled() or future.exception() is not None:
            return self._known.get(key, NO_NAMES)
        self._known[key] = future.result()
        return self._known[key]

    def _is_stale(self, begun: float, future: Future[SortedNames]) -> bool:
        if not future.done():
            return False
        failed = future.cancelled() or future.exception() is not None
        return time.monotonic() - begun > (_FAILED_SECONDS if failed else _FRESH_SECONDS)


def _schemas(access: CatalogAccess) -> SortedNames:
    return SortedNames.of(list_catalog(access).schemas())


def _tables(access: CatalogAccess, schema: str) -> SortedNames:
    return SortedNames.of(list_catalog(access).table_names(schema))


def _columns(access: CatalogAccess, name: CatalogSchemaTableName, *, hidden: bool) -> SortedNames:
    _, resolved = resolve(access, name, None)
    table = resolved.system_table.metadata if isinstance(resolved, ResolvedSystemTable) else resolved.table
    return SortedNames.of(column.name for column in table.columns if hidden or not column.hidden)


def _kinds(access: CatalogAccess) -> SortedNames:
    with access.lock:
        return SortedNames.of(access.metadata.list_system_table_kinds())


def _procedures(access: CatalogAccess) -> SortedNames:
    return SortedNames.of(procedure.name for procedure in access.connector.procedures)
