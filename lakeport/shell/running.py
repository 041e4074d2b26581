"""Opens the sessions of the command line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from catalog.registry import CatalogRegistry
from connector_spi.errors import NotSupportedError
from connector_spi.names import quote_identifier
from lakeport.catalog_session import AnySession
from lakeport.default_catalogs import load_catalogs
from lakeport.duckdb.session import LocalSession
from lakeport.engine import default_engine
from lakeport.session import Session
from lakeport.shell.configuration import GivenSetting
from lakeport.shell.runner import Runner
from lakeport.shell.session_settings import spark_settings
from lakeport.shell.state import spark_log
from lakeport.spark.bridge.options import SparkOptions

__all__ = ["Runner", "open_session", "use_statement"]


@contextmanager
def open_session(
    directory: str | None,
    *,
    debug: bool,
    session_properties: Sequence[GivenSetting] = (),
    spark: Sequence[GivenSetting] = (),
    dialect: str = "spark",
    engine: str | None = None,
) -> Iterator[AnySession]:
    """A session whose Spark logs to a file, which is kept only if Spark does not start.

    Args:
        directory: Directory of the catalogs; see ``connect``.
        debug: Spark logs to the standard error.
        session_properties: Session properties from the command line and the configuration file.
        spark: Settings of Spark.
        dialect: Dialect of the statements; one of ``DIALECTS``.
        engine: What runs the statements; one of ``ENGINES``, or ``None`` for the one that can run here.

    Raises:
        NotSupportedError: Session properties, or a dialect, that the engine has not got.
        InvalidPropertyError: The directory does not exist, or a session property is unknown or invalid.
    """
    if engine is None and (engine := default_engine()) != "spark":
        print(f"no Java is found: the engine {engine} runs the statements; see docs/local-engine.md", file=sys.stderr)
    catalogs = load_catalogs(directory)
    if engine == "duckdb":
        with _local_session(catalogs, session_properties, dialect) as local:
            yield local
        return
    log = None if debug else spark_log()
    try:
        settings = spark_settings(catalogs, session_properties, spark)
    except BaseException:
        catalogs.shutdown()
        raise
    session = Session(catalogs, options=SparkOptions(settings=settings, log=log))
    session.dialect = dialect
    try:
        yield session
    finally:
        session.close()


@contextmanager
def _local_session(
    catalogs: CatalogRegistry, session_properties: Sequence[GivenSetting], dialect: str
) -> Iterator[AnySession]:
    try:
        if session_properties:
            raise NotSupportedError(
                f"{session_properties[0].where}: the engine duckdb has no session properties yet; leave it out, or use "
                "the engine spark"
            )
        session = LocalSession(catalogs)
    except BaseException:
        catalogs.shutdown()
        raise
    with session:
        session.dialect = dialect
        yield session


def use_statement(catalog: str | None, schema: str | None) -> str | None:
    """The ``USE`` statement for ``--catalog`` and ``--schema``."""
    parts = [quote_identifier(part) for part in (catalog, schema) if part]
    return f"USE {'.'.join(parts)}" if parts else None
