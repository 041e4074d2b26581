"""Opens the sessions of the command line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from catalog.registry import CatalogRegistry
from connector_spi.errors import InvalidArgumentError
from connector_spi.names import quote_identifier
from lakeport.catalog_session import AnySession
from lakeport.default_catalogs import load_catalogs
from lakeport.engine import ENGINES, default_engine
from lakeport.shell.configuration import GivenSetting
from lakeport.shell.engines import EngineChoice, engine_makers
from lakeport.shell.runner import Runner
from lakeport.shell.session_settings import session_settings
from lakeport.shell.state import spark_log
from lakeport.spark.bridge.options import SparkOptions
from lakeport.transactions.session_properties import PREFIX

__all__ = ["Runner", "open_session", "use_statement"]


@contextmanager
def open_session(
    directory: str | None,
    *,
    debug: bool,
    session_properties: Sequence[GivenSetting] = (),
    engine_settings: Sequence[GivenSetting] = (),
    dialect: str = "spark",
    engine: str | None = None,
    server: str | None = None,
) -> Iterator[AnySession]:
    """A session whose Spark logs to a file, which is kept only if Spark does not start.

    Args:
        directory: Directory of the catalogs; see ``connect``.
        debug: Spark logs to the standard error.
        session_properties: Session properties from the command line and the configuration file.
        engine_settings: Settings of the engines from the configuration file.
        dialect: Dialect of the statements; one of ``DIALECTS``.
        engine: What runs the statements; one of ``ENGINES``, or ``None`` for the one that can run here.
        server: Address of a server that has the catalogs and runs the statements, ``None`` for this process.

    Raises:
        InvalidArgumentError: A server is given, and a directory or an engine.
        ExternalError: The server is not reached.
        NotSupportedError: The engine is not installed, or a setting is one of another engine.
        InvalidPropertyError: The directory does not exist, or a setting is unknown or invalid.
    """
    if server is not None:
        if directory is not None or engine is not None:
            raise InvalidArgumentError(
                "--server has catalogs and an engine of its own; leave out --catalogs and --engine"
            )
        with _remote_session(server, session_properties) as remote:
            remote.dialect = dialect
            yield remote
        return
    chosen = engine or default_engine()
    if engine is None and chosen != ENGINES[0]:
        print(f"no Java is found: the engine {chosen} runs the statements; see docs/local-engine.md", file=sys.stderr)
    catalogs = load_catalogs(directory)
    try:
        session = _session(catalogs, chosen, session_properties, engine_settings, debug=debug)
    except BaseException:
        catalogs.shutdown()
        raise
    with session:
        session.dialect = dialect
        yield session


def _remote_session(address: str, given: Sequence[GivenSetting]) -> AnySession:
    from lakeport.remote.connection import check_libraries

    check_libraries()
    from lakeport.remote.session import RemoteSession  # which imports them

    session = RemoteSession(address)
    # The server knows which there are.
    session.engine.keep_session_properties({one.name.removeprefix(PREFIX): one.text for one in given})
    return session


def _session(
    catalogs: CatalogRegistry,
    engine: str,
    session_properties: Sequence[GivenSetting],
    engine_settings: Sequence[GivenSetting],
    *,
    debug: bool,
) -> EngineChoice:
    found = session_settings(catalogs, engine, session_properties, engine_settings)
    options = SparkOptions(settings=found.engines["spark"], log=None if debug else spark_log())
    session = EngineChoice(catalogs, engine_makers(catalogs, options, found.engines["duckdb"]), engine)
    session.engine.keep_session_properties(found.properties)
    return session


def use_statement(catalog: str | None, schema: str | None) -> str | None:
    """The ``USE`` statement for ``--catalog`` and ``--schema``."""
    parts = [quote_identifier(part) for part in (catalog, schema) if part]
    return f"USE {'.'.join(parts)}" if parts else None
