"""Mergers that plugins bring, by the name of the Java class that they stand for. Both sides; loaded in tasks alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from connector_spi.connector import version_problem
from connector_spi.errors import InternalError
from connectors.hudi.merge.mergers import MODES, PAYLOADS
from connectors.hudi.merge.record_merger import MergeRules, RecordMerger

__all__ = ["MERGER_ENTRY_POINTS", "create_merger", "plugin_mergers"]

MERGER_ENTRY_POINTS = "lakeport.hudi.record_mergers"
"""Entry point group of ``RecordMerger`` classes; an entry is named as the table names its payload class or strategy."""


@cache
def plugin_mergers() -> Mapping[str, EntryPoint]:
    """The mergers of all plugins, not loaded, by class name of the payload or id of the merge strategy."""
    return {entry.name: entry for entry in entry_points(group=MERGER_ENTRY_POINTS)}


def create_merger(name: str, rules: MergeRules) -> RecordMerger:
    """The merger of a table.

    Args:
        name: As of ``merge_config``.
        rules: What the table's properties say.

    Raises:
        InternalError: A plugin's merger cannot be loaded.
    """
    made = {**MODES, **PAYLOADS}.get(name)
    return made(rules) if made is not None else _loaded(plugin_mergers()[name])(rules)


@cache
def _loaded(entry: EntryPoint) -> type[RecordMerger]:
    try:
        loaded = entry.load()
    except Exception as error:
        raise InternalError(f"the plugin {entry.value} of {MERGER_ENTRY_POINTS} cannot be loaded: {error}") from error
    if not isinstance(loaded, type) or not issubclass(loaded, RecordMerger):
        raise InternalError(
            f"the plugin {entry.value} of {MERGER_ENTRY_POINTS} is {loaded!r:.200}; expected a subclass of RecordMerger"
        )
    problem = version_problem(loaded)
    if problem is not None:
        raise InternalError(f"the plugin {entry.value} of {MERGER_ENTRY_POINTS} is unusable: {problem}")
    return loaded
