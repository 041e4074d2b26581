"""The map of catalogs in a Spark session, and how to share Lakeport's catalogs with a cloned session."""

from __future__ import annotations

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from catalog.registry import CatalogRegistry
from connector_spi.errors import NotSupportedError
from lakeport.error_codes import UNSUPPORTED_SPARK_VERSION
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["catalog_map", "keep_catalogs", "share_catalogs"]


def catalog_map(session: JavaObject, version: str) -> JavaObject:
    """The map by name in a session's ``CatalogManager``, which has no public way to add catalogs.

    Args:
        session: The Java session.
        version: Spark's version, for the message.

    Raises:
        NotSupportedError: The ``CatalogManager`` has no such map.
    """
    manager = session.sessionState().catalogManager()
    try:
        field = manager.getClass().getDeclaredField("catalogs")
        field.setAccessible(True)
        return field.get(manager)
    except Py4JError as error:
        raise NotSupportedError(
            f"Spark {version} keeps its catalogs where Lakeport does not find them "
            "(CatalogManager has no map 'catalogs'); use Spark 4.0 to 4.3",
            UNSUPPORTED_SPARK_VERSION,
        ) from error


def keep_catalogs(jvm: Jvm, registry: CatalogRegistry, catalogs: JavaObject) -> None:
    """Stores a map that has the catalogs of a registry, for ``share_catalogs``."""
    jvm.shared["catalogs of", id(registry)] = catalogs


def share_catalogs(jvm: Jvm, registry: CatalogRegistry, session: JavaObject) -> None:
    """Puts the current catalogs of a registry into a session that Spark has cloned, such as a stream's."""
    known = jvm.shared.get(("catalogs of", id(registry)))
    if known is None:
        return
    catalogs = catalog_map(session, jvm.version)
    for name in registry.names():
        if known.contains(name):
            catalogs.put(name, known.apply(name))
