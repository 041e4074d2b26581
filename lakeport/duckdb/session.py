"""A session whose statements run in DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, NoReturn

from catalog.registry import CatalogRegistry
from connector_spi.errors import NotSupportedError
from lakeport.duckdb.result import LocalResult
from lakeport.error_codes import LIBRARY_NOT_INSTALLED, UNSUPPORTED_LOCAL_SQL
from lakeport.session import Session
from lakeport.sql.dialects import check_dialect, to_spark_sql
from lakeport.sql.table_columns import table_columns

if TYPE_CHECKING:
    from lakeport.duckdb.engine import DuckDbEngine

__all__ = ["LocalSession"]


def _no_setting(key: str) -> None:
    return None


class LocalSession(Session):
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
        super().__init__(catalogs)
        self._local = DuckDbEngine(catalogs, self._reads)

    @property
    def engine(self) -> DuckDbEngine:  # type: ignore[override]  # of a session of Spark it is Spark's
        """Statements through DuckDB."""
        return self._local

    @property
    def is_started(self) -> bool:
        """Whether statements can run at once: always."""
        return True

    @property
    def spark(self) -> NoReturn:
        """There is none.

        Raises:
            NotSupportedError: Always.
        """
        raise _only_spark("Spark session")

    def sql(  # type: ignore[override]  # of a session of Spark it is a DataFrame
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
        if args:
            raise _only_spark("parameters of statements")
        columns_of = table_columns(self.catalogs, self.read_lease, self._local.current_names)
        text = to_spark_sql(text, self.dialect if dialect is None else check_dialect(dialect), columns_of, _no_setting)
        return self._local.sql(text, self.read_lease)

    def table(self, name: str) -> NoReturn:
        """Refused: ``scan`` gives a table that is read with no Spark."""
        raise _only_spark("table(), which gives a DataFrame; scan() gives a table for other libraries")

    def close(self) -> None:
        """Ends open reads and shuts the catalogs down; raises as ``Session.close``."""
        with ExitStack() as stack:
            stack.callback(super().close)
            stack.callback(self._local.close)


def _only_spark(what: str) -> NotSupportedError:
    return NotSupportedError(f"the engine duckdb has no {what}; use the engine spark for it", UNSUPPORTED_LOCAL_SQL)
