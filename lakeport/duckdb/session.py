"""A session whose statements run in DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

from catalog.registry import CatalogRegistry
from connector_spi.errors import NotSupportedError
from lakeport.catalog_session import CatalogSession
from lakeport.duckdb.result import LocalResult
from lakeport.error_codes import LIBRARY_NOT_INSTALLED, UNSUPPORTED_LOCAL_SQL

if TYPE_CHECKING:
    from lakeport.duckdb.engine import DuckDbEngine

__all__ = ["LocalSession", "duckdb_engine"]


class LocalSession(CatalogSession[LocalResult]):
    """Catalogs, and SQL and Arrow over them, with no Java. May be used by several threads.

    Args:
        catalogs: Shut down with the session.
        settings: Of DuckDB; see ``connect``.

    Raises:
        NotSupportedError: DuckDB or sqlglot is not installed.
        InvalidPropertyError: A setting that there is not, or a value that DuckDB does not take.
    """

    def __init__(self, catalogs: CatalogRegistry, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(catalogs, duckdb_engine(catalogs, settings))

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
            text: Queries, ``USE``, ``SET``, ``RESET``, ``SHOW``, ``DESCRIBE``, ``EXPLAIN`` and ``CALL``.
            args: Values of ``:name`` or ``?`` parameters in a query.
            dialect: As of ``Session.sql``, or ``duckdb``, whose queries DuckDB runs as they are written.

        Raises:
            NotSupportedError: Only Spark runs it, or DuckDB may mean something else by it; the message names it.
            ConnectorError: A name is not there, or a catalog refused.

        Example:
            >>> with lakeport.connect(engine="duckdb") as local:  # doctest: +SKIP
            ...     local.sql("SELECT region, sum(amount) FROM hudi.sales.trips GROUP BY region").show()
        """
        return self.plan(text, args, dialect=dialect)


def duckdb_engine(catalogs: CatalogRegistry, settings: Mapping[str, str] | None = None) -> DuckDbEngine:
    """The engine, whose libraries are imported here; raises as ``LocalSession``."""
    try:
        # Extras, and slow to import.
        from lakeport.duckdb.engine import DuckDbEngine
    except ImportError as error:
        raise NotSupportedError(
            f"the engine duckdb needs {error.name}: pip install 'lakeport[duckdb]'", LIBRARY_NOT_INSTALLED
        ) from error
    return DuckDbEngine(catalogs, settings)
