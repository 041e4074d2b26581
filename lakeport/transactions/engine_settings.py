"""The session properties that the engine itself has, in every catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from connector_spi.properties import PropertyMetadata, boolean_property, enum_property
from connector_spi.security import ALL_ROLES

__all__ = ["COLUMNAR_READER", "ENGINE_PROPERTIES", "ROLE", "SPARK_PROPERTIES", "EngineSettings"]

NATIVE_READER = boolean_property(
    "native_reader",
    "Let the engine's own readers of files read those that they can; false forces Python, in Spark its tasks.",
    True,
)
COLUMNAR_READER = boolean_property(
    "columnar_reader",
    "Hand what Python tasks read to Spark as columns, where its Spark can take them; false hands over row by row.",
    True,
)
TASK_PUSHDOWN = boolean_property(
    "task_pushdown",
    "Let Python tasks filter, aggregate and cut the rows that they read, and connectors too; false leaves it to Spark.",
    True,
)
TASK_READ_AHEAD = boolean_property(
    "task_read_ahead",
    "Let Python tasks decode the next rows while Spark works on those before; needs idle cores, and more memory.",
    False,
)
STORAGE_PARTITIONING = enum_property(
    "storage_partitioning",
    "Which scans report buckets and partition keys to Spark, so that joins need no shuffle: of tables that a query may "
    "join by them, all, or none.",
    ("AUTOMATIC", "ALL", "NONE"),
    "AUTOMATIC",
)
ROLE = PropertyMetadata(
    "role",
    "What SET ROLE selects: all roles that were granted to the user, none of them, or one by its name.",
    "all, none or the name of a role",
    lambda text: text.strip().lower(),
    ALL_ROLES,
)
_SWITCHES = (NATIVE_READER, COLUMNAR_READER, TASK_PUSHDOWN, TASK_READ_AHEAD)
ENGINE_PROPERTIES: tuple[PropertyMetadata[object], ...] = (*_SWITCHES, STORAGE_PARTITIONING, ROLE)
"""The engine's own session properties, of every catalog."""
SPARK_PROPERTIES = frozenset(
    one.name for one in (COLUMNAR_READER, TASK_PUSHDOWN, TASK_READ_AHEAD, STORAGE_PARTITIONING)
)
"""Those that say what Spark does, and mean nothing to other engines."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """How the engine reads the tables of one catalog in one statement.

    Attributes:
        native_reader: The engine may read files natively, with its own reader.
        columnar_reader: Python tasks may hand columns to Spark.
        task_pushdown: Python tasks may filter and aggregate, and the connector may aggregate.
        task_read_ahead: Python tasks decode the next rows while Spark works on those before.
        storage_partitioning: Which scans tell how their rows lie: ``AUTOMATIC``, ``ALL`` or ``NONE``.
        role: The role that is selected, in lower case; ``all`` and ``none`` mean that.
    """

    native_reader: bool
    columnar_reader: bool
    task_pushdown: bool
    task_read_ahead: bool
    storage_partitioning: str
    role: str

    @classmethod
    def of(cls, values: Mapping[str, object]) -> EngineSettings:
        """The settings among the values of session properties, by name."""
        switches = {descriptor.name: bool(values[descriptor.name]) for descriptor in _SWITCHES}
        partitioning = str(values[STORAGE_PARTITIONING.name])
        return cls(**switches, storage_partitioning=partitioning, role=str(values[ROLE.name]))
