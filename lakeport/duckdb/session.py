"""A session whose statements run in DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from catalog.registry import CatalogRegistry
from connector_spi.errors import NotSupportedError
from lakeport.arrow.reads import ArrowReads
from lakeport.catalog_session import CatalogSession
from lakeport.duckdb.result import LocalResult
from lakeport.error_codes import LIBRARY_NOT_INSTALLED, UNSUPPORTED_LOCAL_SQL

__all__ = ["LocalSession"]


class LocalSession(CatalogSession[LocalResult]):
    """Catalogs, and SQL and Arrow over them, with no Java. May be used by several threads.

    Args:
        catalogs: Shut down with the session.

    Raises:
        NotSupportedError: DuckDB or sqlglot is not installed.
    """

    def __init__(self, catalogs: CatalogRegistry) -> None:
        try:
            # Extras, and slow to import.
            from lakeport.duckdb.engine import DuckDbEngine
        except ImportError as error:
            raise NotSupportedError(
                f"the engine duckdb needs {error.name}: pip install 'lakeport[duckdb]'", LIBRARY_NOT_INSTALLED
            ) from error
        super().__init__(catalogs, DuckDbEngine(catalogs, ArrowReads(catalogs)))

    @property
    def spark(self) -> NoReturn:
        """There is none.

        Raises:
            NotSupportedError: Always.
        """
        raise NotSupportedError(
            "the engine duckdb has no Spark session; use the engine spark for it", UNSUPPORTED_LOCAL_SQL
        )

    def sql(
        self,
        text: str,
        args: Mapping[str, object] | Sequence[object] | None = None,
        *,
        dialect: str | None = None,
    ) -> LocalResult:
        """Runs one SQL statement; a query runs when its rows are asked for.

        Args:
            text: Queries, ``USE``, ``SHOW``, ``DESCRIBE``, ``EXPLAIN`` and ``CALL``.
            args: Not supported yet.
            dialect: As of ``Session.sql``.

        Raises:
            NotSupportedError: Only Spark runs it, or DuckDB may mean something else by it; the message names it.
            ConnectorError: A name is not there, or a catalog refused.

        Example:
            >>> with lakeport.connect(engine="duckdb") as local:  # doctest: +SKIP
            ...     local.sql("SELECT region, sum(amount) FROM hudi.sales.trips GROUP BY region").show()
        """
        return self.plan(text, args, dialect=dialect)
