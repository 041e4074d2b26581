"""Completion of keywords and of the names of catalogs, schemas and tables."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from connector_spi.names import quote_identifier
from lakeport.plain_statement import plain_statement
from lakeport.session import Session

__all__ = ["KEYWORDS", "NameCache", "SqlCompleter"]

_SPARK_KEYWORDS = (
    "ALL AND ANTI ANY AS ASC BETWEEN BY CALL CASE CAST CATALOGS COLUMNS COUNT CREATE CROSS CURRENT_DATE DATE DESC "
    "DESCRIBE DISTINCT ELSE END EXCEPT EXISTS EXPLAIN EXTENDED FALSE FIRST FORMATTED FROM FULL FUNCTIONS GROUP HAVING "
    "IN INNER INTERSECT INTERVAL IS JOIN LAST LATERAL LEFT LIKE LIMIT NAMESPACES NATURAL NOT NULL NULLS OFFSET ON OR "
    "ORDER OUTER OVER PARTITION PARTITIONS PIVOT PROCEDURES RIGHT ROWS SCHEMAS SELECT SEMI SET SHOW SUM TABLE TABLES "
    "TABLESAMPLE THEN TIMESTAMP TRUE UNION UNPIVOT USE USING VALUES VERSION VIEW WHEN WHERE WINDOW WITH"
)
KEYWORDS = tuple(_SPARK_KEYWORDS.split())
_PATH = re.compile(r"(?:`[^`]*`|[\w$]+|\.)*$")
_FRESH_SECONDS = 60.0
_WAIT_SECONDS = 0.5


class NameCache:
    """Names of schemas and tables, fetched by a thread of its own and kept for a minute.

    Args:
        session: Its catalogs are asked, without Spark.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._executor = ThreadPoolExecutor(max_workers=2, thread_name_prefix="lakeport-names")
        self._known: dict[tuple[str, ...], tuple[float, Future[list[str]]]] = {}

    def catalogs(self) -> list[str]:
        """All catalogs."""
        return self._session.catalogs.names()

    def schemas(self, catalog: str) -> list[str]:
        """Schemas of a catalog, as far as known in half a second."""
        return self._get((catalog,), lambda: _schemas(self._session, catalog))

    def tables(self, catalog: str, schema: str) -> list[str]:
        """Tables of a schema, as far as known in half a second."""
        return self._get((catalog, schema), lambda: _tables(self._session, catalog, schema))

    def close(self) -> None:
        """Asks no more; does not wait for answers."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _get(self, key: tuple[str, ...], fetch: Callable[[], list[str]]) -> list[str]:
        fetched, future = self._known.get(key, (0.0, None))
        if future is None or (future.done() and time.monotonic() - fetched > _FRESH_SECONDS):
            future = self._executor.submit(fetch)
            self._known[key] = (time.monotonic(), future)
        wait([future], _WAIT_SECONDS)
        if not future.done() or future.exception() is not None:
            return []
        return future.result()


class SqlCompleter(Completer):
    """Completes the word before the cursor; runs in a thread beside the prompt.

    Args:
        names: Where names come from.
        current: Gives catalog and schema of names that say none; ``None`` where there is none.
    """

    def __init__(self, names: NameCache, current: Callable[[], tuple[str | None, str | None]]) -> None:
        self._names = names
        self._current = current

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        match = _PATH.search(document.text_before_cursor)
        path = match.group() if match else ""
        if not path and not complete_event.completion_requested:
            return
        *before, word = path.split(".")
        word = word.strip("`").lower()
        names = self._after([part.strip("`").lower() for part in before])
        for name in sorted({name for name in names if name.lower().startswith(word)}):
            yield Completion(quote_identifier(name), start_position=-len(path.split(".")[-1]))
        if not before and word:
            is_lower = path.islower()
            for keyword in KEYWORDS:
                if keyword.lower().startswith(word):
                    yield Completion(keyword.lower() if is_lower else keyword, start_position=-len(path))

    def _after(self, before: Sequence[str]) -> list[str]:
        """Names that may follow a path."""
        catalogs = self._names.catalogs()
        catalog, schema = self._current()
        ours = catalog if catalog in catalogs else None
        if not before:
            schemas = self._names.schemas(ours) if ours else []
            return [*catalogs, *schemas, *(self._names.tables(ours, schema) if ours and schema else [])]
        if len(before) == 1:
            schemas = self._names.schemas(before[0]) if before[0] in catalogs else []
            return [*schemas, *(self._names.tables(ours, before[0]) if ours else [])]
        if len(before) == 2 and before[0] in catalogs:
            return self._names.tables(before[0], before[1])
        return []


def _schemas(session: Session, catalog: str) -> list[str]:
    access = plain_statement(session.catalogs).access(catalog)
    with access.lock:
        return list(access.metadata.list_schema_names(access.session))


def _tables(session: Session, catalog: str, schema: str) -> list[str]:
    access = plain_statement(session.catalogs).access(catalog)
    with access.lock:
        return [name.table for name in access.metadata.list_tables(access.session, schema)]
