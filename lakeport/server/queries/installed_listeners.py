"""Event listeners that are installed, through the entry-point group ``connector_spi.event_listeners``."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

from connector_spi.errors import ExternalError
from connector_spi.optional.event_listener import EventListener
from lakeport.error_codes import SERVER_DOES_NOT_START

__all__ = ["LISTENER_GROUP", "installed_listeners"]

LISTENER_GROUP = "connector_spi.event_listeners"


def installed_listeners(found: Iterable[EntryPoint] | None = None) -> tuple[EventListener, ...]:
    """The listeners, sorted by the names of their entry points.

    Args:
        found: Entry points to load in place of the installed ones; each names a class with no arguments, or an
            instance.

    Raises:
        ExternalError: One cannot be had: a server without its audit is not what was asked for.
    """
    points = entry_points(group=LISTENER_GROUP) if found is None else found
    # A package that lies twice on sys.path shows each entry point twice.
    unique = {(point.name, point.value): point for point in points}
    return tuple(_loaded(unique[key]) for key in sorted(unique))


def _loaded(point: EntryPoint) -> EventListener:
    where = f"the event listener '{point.name}' ({point.value})"
    try:
        loaded = point.load()
        listener = loaded() if isinstance(loaded, type) else loaded
    # It is foreign code: whatever its import raises.
    except Exception as error:
        raise ExternalError(f"{where} fails: {type(error).__name__}: {error}", SERVER_DOES_NOT_START) from error
    if not isinstance(listener, EventListener):
        raise ExternalError(
            f"{where} is of {type(listener).__qualname__}; expected a connector_spi.EventListener, or uninstall it",
            SERVER_DOES_NOT_START,
        )
    return listener
