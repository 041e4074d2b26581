"""Opens the sessions of the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from connector_spi.names import quote_identifier
from lakeport.default_catalogs import load_catalogs
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
) -> Iterator[Session]:
    """A session whose Spark logs to a file, which is kept only if Spark does not start.

    Args:
        directory: Directory of the catalogs; see ``connect``.
        debug: Spark logs to the standard error.
        session_properties: Session properties from the command line and the configuration file.
        spark: Settings of Spark.
        dialect: Dialect of the statements; one of ``DIALECTS``.

    Raises:
        InvalidPropertyError: The directory does not exist, or a session property is unknown or invalid.
    """
    catalogs = load_catalogs(directory)
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


def use_statement(catalog: str | None, schema: str | None) -> str | None:
    """The ``USE`` statement for ``--catalog`` and ``--schema``."""
    parts = [quote_identifier(part) for part in (catalog, schema) if part]
    return f"USE {'.'.join(parts)}" if parts else None
