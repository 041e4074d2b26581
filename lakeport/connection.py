"""``connect()``: from a directory of catalog files to a session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, overload

from connector_spi.errors import InvalidArgumentError
from connector_spi.security import Identity, SystemAccessControl
from lakeport.default_catalogs import load_catalogs
from lakeport.duckdb.session import LocalSession
from lakeport.engine import check_engine
from lakeport.session import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["connect"]


@overload
def connect(
    spark: None = None,
    catalogs: str | os.PathLike[str] | None = None,
    *,
    engine: Literal["duckdb"],
    settings: Mapping[str, str] | None = None,
    access_control: SystemAccessControl | None = None,
    identity: Identity | None = None,
) -> LocalSession: ...


@overload
def connect(
    spark: SparkSession | None = None,
    catalogs: str | os.PathLike[str] | None = None,
    *,
    engine: Literal["spark"] = "spark",
    access_control: SystemAccessControl | None = None,
    identity: Identity | None = None,
) -> Session: ...


def connect(
    spark: SparkSession | None = None,
    catalogs: str | os.PathLike[str] | None = None,
    *,
    engine: Literal["spark", "duckdb"] = "spark",
    settings: Mapping[str, str] | None = None,
    access_control: SystemAccessControl | None = None,
    identity: Identity | None = None,
) -> Session | LocalSession:
    """Opens a session.

    Args:
        spark: A classic Spark session to put the catalogs into, at once, and into those that come later. ``None``
            starts a local Spark when it is first needed (or takes the one that is active in the process).
        catalogs: Directory of catalog files such as ``hive.properties``. ``None`` is ``./etc/catalog`` where that is,
            else the catalogs ``hive`` and ``hudi`` over an embedded metastore in ``./lakeport-warehouse``.
        engine: What runs SQL: ``spark``, or ``duckdb`` in this process with no Java, which does not run all of it yet.
        settings: Of DuckDB: ``memory_limit``, ``threads``, ``temp_directory`` and ``max_temp_directory_size``, with the
            values that DuckDB has for them; ``SET duckdb.memory_limit = 4GB`` changes them later.
        access_control: What may be done, in place of what ``access-control.properties`` beside the directory says.
        identity: Who asks, with groups and roles; ``None`` is the user of the process.

    Raises:
        InvalidArgumentError: A directory in the place of the Spark session, an engine that there is not, or settings
            of one engine with the other.
        InvalidPropertyError: The directory is missing. A bad file in it is an error of its catalog, raised on use.
        NotSupportedError: Spark Connect, a Spark version that Lakeport was not made for, or a Python of Spark's tasks
            that has no Lakeport.
    """
    if isinstance(spark, str | os.PathLike):
        raise InvalidArgumentError(
            f"spark is {str(spark)!r}; expected a Spark session or None: a directory of catalog files is named as "
            f"connect(catalogs={str(spark)!r})"
        )
    if check_engine(engine) != "spark" and spark is not None:
        raise InvalidArgumentError(f"a Spark session is given to the engine {engine}; leave it out, or the engine")
    if engine == "spark" and settings:
        raise InvalidArgumentError("settings are those of the engine duckdb; those of Spark belong to its session")
    registry = load_catalogs(catalogs, access_control, identity)
    try:
        if engine == "duckdb":
            return LocalSession(registry, settings)
        return Session(registry, spark)
    except BaseException:
        registry.shutdown()
        raise
