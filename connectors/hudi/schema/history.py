"""The versions of a table's columns, and which of them a file was written with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.serializable import Serializable
from connectors.hudi.error_codes import HUDI_SCHEMA_ON_READ
from connectors.hudi.schema.evolution import EvolvedColumn, evolve
from connectors.hudi.schema.internal_schema import InternalSchema, parse_internal_schema, parse_schema_history
from connectors.hudi.schema.table_schema import META_COLUMNS

__all__ = ["SchemaHistory"]

# HoodieTimeline.METADATA_BOOTSTRAP_INSTANT_TS and FULL_BOOTSTRAP_INSTANT_TS, which are no times.
_BOOTSTRAP_INSTANTS = frozenset({"00000000000001", "00000000000002"})
# What writers add to a file that is in no version.
_UNVERSIONED = frozenset({*META_COLUMNS, "_hoodie_operation", "_hoodie_is_deleted"})


@dataclass(frozen=True, slots=True)
class SchemaHistory(Serializable):
    """The versions of a table with schema on read.

    Attributes:
        location: Names the table, for messages.
        query: The version that the query shows, as JSON.
        commits: Writes that record the version of their files: requested time and position in ``versions``.
        versions: As JSON.
        history: The content of the newest ``.schemacommit`` file, which covers the other writes; ``None`` without.
    """

    location: str
    query: str
    commits: tuple[tuple[str, int], ...]
    versions: tuple[str, ...]
    history: str | None

    @property
    def shown(self) -> InternalSchema:
        """The version that the query shows."""
        return parse_internal_schema(self.query, self.location)

    def written(self, requested: str) -> InternalSchema:
        """The version that a write's files have (InternalSchemaCache.getInternalSchemaByVersionId).

        Args:
            requested: The write.

        Raises:
            NotSupportedError: The history does not cover the write.
        """
        recorded = dict(self.commits).get(requested)
        if recorded is not None:
            return parse_internal_schema(self.versions[recorded], self.location)
        if self.history is not None and requested.isdecimal() and requested not in _BOOTSTRAP_INSTANTS:
            known = parse_schema_history(self.history, self.location)
            older = [version for version in known if version.version <= int(requested)]
            if older:
                return older[-1]
        raise NotSupportedError(
            f"{self.location} has a schema history (schema on read), which lacks the columns of what was "
            f"written at {requested}; rewrite the table to read it",
            HUDI_SCHEMA_ON_READ,
        )

    def evolve(self, requested: str, columns: Sequence[ColumnHandle]) -> tuple[EvolvedColumn, ...]:
        """Where columns of the query are in the files of a write.

        Raises:
            NotSupportedError: The history does not cover the columns, or a type changed in an unknown way.
        """
        return evolve(self.shown, self.written(requested), columns, f"{self.location}, written at {requested},")

    def check_names(self, requested: str, names: Iterable[str], path: str) -> None:
        """Refuses a file with columns that its version does not have: then ids would be guessed.

        Raises:
            NotSupportedError: It is so.
        """
        version = self.written(requested)
        for name in names:
            if name not in _UNVERSIONED and version.named(name) is None:
                raise NotSupportedError(
                    f"{path} has the column '{name}', which the table had not when it was written ({requested}), by "
                    "its schema history; rewrite the table to read it",
                    HUDI_SCHEMA_ON_READ,
                )

    def check(self, schema: pa.Schema, fixed: Iterable[str], typed: Iterable[str]) -> None:
        """Refuses histories that this connector would read wrong.

        Args:
            schema: The table's columns by its newest Avro schema.
            fixed: Fields that have to be the same ones in all versions: those of keys, ordering and partitions,
                which the table's properties name.
            typed: Those of them that have to be of one type, too.

        Raises:
            NotSupportedError: It is such a history.
        """
        shown = self.shown
        recorded = {field.name: field.type for field in shown.fields if field.name not in META_COLUMNS}
        columns = {field.name: field.type for field in schema if field.name not in META_COLUMNS}
        if list(recorded.items()) != list(columns.items()):
            odd = [name for name in {**recorded, **columns} if recorded.get(name) != columns.get(name)]
            raise self._refusal(f"its columns with ids and its Avro schema differ in {', '.join(odd) or 'order'}")
        every = [parse_internal_schema(text, self.location) for text in self.versions]
        every += parse_schema_history(self.history, self.location) if self.history is not None else ()
        typed = frozenset(typed)
        for name in dict.fromkeys(name if name in recorded else name.partition(".")[0] for name in fixed):
            now = shown.named(name)
            met = [field for version in every for field in version.fields if now is None or field.id == now.id]
            if now is None or any(field.name != name for field in met):
                raise self._refusal(f"its field '{name}' of keys, ordering or partitions was renamed or dropped")
            if name in typed and any(field.type != now.type for field in met):
                raise self._refusal(f"its partition field '{name}' was given another type")
            if any(field.name == name and field.id != now.id for version in every for field in version.fields):
                raise self._refusal(f"its field '{name}' of keys, ordering or partitions was dropped and added anew")

    def _refusal(self, what: str) -> NotSupportedError:
        return NotSupportedError(
            f"{self.location} has a schema history (schema on read) that cannot be read yet: {what}; rewrite the table "
            "to read it",
            HUDI_SCHEMA_ON_READ,
        )
