"""Where a Spark session keeps its catalogs, and how a session that Spark makes of another gets ours, too."""

from __future__ import annotations

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from catalog.registry import CatalogRegistry
from connector_spi.errors import NotSupportedError
from lakeport.error_codes import UNSUPPORTED_SPARK_VERSION
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["catalog_map", "keep_catalogs", "share_catalogs"]


def catalog_map(session: JavaObject, version: str) -> JavaObject:
    """The map by name inside of a session's ``CatalogManager``, which has no other way in.

    Args:
        session: Java's session.
        version: Spark's version, for the message.

    Raises:
        NotSupportedError: Spark keeps them elsewhere.
    """
    manager = session.sessionState().catalogManager()
    try:
        field = manager.getClass().getDeclaredField("catalogs")
        field.setAccessible(True)
        return field.get(manager)
    except Py4JError as error:
        raise NotSupportedError(
            f"Spark {version} keeps its catalogs in a place that Lakeport does not know "
            "(CatalogManager has no map 'catalogs'); use Spark 4.0 to 4.3",
            UNSUPPORTED_SPARK_VERSION,
        ) from error


def keep_catalogs(jvm: Jvm, registry: CatalogRegistry, catalogs: JavaObject) -> None:
    """Remembers a map that has the catalogs of a registry."""
    jvm.shared["catalogs of", id(registry)] = catalogs


def share_catalogs(jvm: Jvm, registry: CatalogRegistry, session: JavaObject) -> None:
    """Puts the catalogs of a registry, as they are now, into a session that Spark has cloned, such as a stream's."""
    known = jvm.shared.get(("catalogs of", id(registry)))
    if known is None:
        return
    catalogs = catalog_map(session, jvm.version)
    for name in registry.names():
        if known.contains(name):
            catalogs.put(name, known.apply(name))
