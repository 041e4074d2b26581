"""A session whose catalogs and engine are those of a server."""

from __future__ import annotations

from connector_spi.errors import NotSupportedError
from lakeport.catalog_session import CatalogSession
from lakeport.engine import Parameters
from lakeport.remote.catalogs import remote_catalogs
from lakeport.remote.engine import RemoteEngine
from lakeport.remote.result import RemoteResult
from lakeport.sql.dialects import DIALECTS, check_dialect

__all__ = ["RemoteSession"]


class RemoteSession(CatalogSession[RemoteResult]):
    """SQL at a server, under its rules.

    Args:
        address: See ``connect_to_server``, whose errors it raises.
    """

    def __init__(self, address: str) -> None:
        engine = RemoteEngine(address)
        try:
            catalogs = remote_catalogs(engine)
        except BaseException:
            engine.close()
            raise
        super().__init__(catalogs, engine)

    def plan(self, text: str, args: Parameters = None, *, dialect: str | None = None) -> RemoteResult:
        """Sends one statement to the server, which understands Spark's SQL.

        Raises:
            NotSupportedError: It is in another dialect.
        """
        spoken = self.dialect if dialect is None else check_dialect(dialect)
        if spoken != DIALECTS[0]:
            raise NotSupportedError(f"a server takes statements of {DIALECTS[0]}; met the dialect {spoken}")
        return self.engine.plan(text, args)
