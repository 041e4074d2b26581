"""The session of the command line, which may change its engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack

from catalog.registry import CatalogRegistry
from connector_spi.errors import NotSupportedError
from lakeport.catalog_session import CatalogSession
from lakeport.duckdb.session import duckdb_engine
from lakeport.engine import Engine, LazyResult, check_engine
from lakeport.spark.bridge.options import SparkOptions
from lakeport.spark_on_demand import SparkOnDemand

__all__ = ["EngineChoice", "MakeEngine", "engine_makers"]

MakeEngine = Callable[[], Engine[LazyResult]]


def engine_makers(catalogs: CatalogRegistry, options: SparkOptions, duckdb: Mapping[str, str]) -> dict[str, MakeEngine]:
    """How to make each engine.

    Args:
        catalogs: What they query.
        options: How to start a local Spark.
        duckdb: Settings of DuckDB.
    """
    return {
        "spark": lambda: SparkOnDemand(catalogs, options),
        "duckdb": lambda: duckdb_engine(catalogs, duckdb),
    }


class EngineChoice(CatalogSession[LazyResult]):
    """A session over one of several engines; those that were used are kept until its end.

    Args:
        catalogs: Shut down with the session.
        makers: How to make each engine.
        name: The engine to begin with.

    Raises:
        NotSupportedError: The engine is not installed.
    """

    def __init__(self, catalogs: CatalogRegistry, makers: Mapping[str, MakeEngine], name: str) -> None:
        super().__init__(catalogs, makers[check_engine(name)]())
        self._makers = makers
        self._made = {name: self._engine}

    def choose(self, name: str) -> None:
        """Changes the engine; the session properties that are set are kept.

        Raises:
            InvalidArgumentError: There is no such engine.
            NotSupportedError: It is not installed.
        """
        check_engine(name)
        if self.read_lease is not None:
            raise NotSupportedError("the engine cannot change inside of a transaction")
        chosen = self._made.get(name) or self._makers[name]()
        self._made[name] = chosen
        chosen.keep_session_properties(self._engine.session_properties())
        self._engine = chosen

    def close(self) -> None:
        """Ends the engines and shuts the catalogs down; raises as ``CatalogSession.close``."""
        with ExitStack() as stack:
            stack.callback(super().close)
            for engine in self._made.values():
                if engine is not self._engine:
                    stack.callback(engine.close)
