"""What to read of a file, as one value. Executor side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import (
    ConnectorExpression,
    Domain,
    Reference,
    TupleDomain,
    Value,
    may_be_true,
    references,
)
from connectors.toolkit.schema.column_sources import ColumnSource
from connectors.toolkit.schema.schema_adapter import SchemaAdapter
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.schema.type_adaptation import LOSSY, CastRules

__all__ = ["BATCH_ROWS", "FileRange", "FileRead", "SourceResolver"]

BATCH_ROWS = 65536

SourceResolver = Callable[[pa.Schema], Mapping[str, ColumnSource]]
"""Finds the table's columns in a file of this schema, by the columns' names."""


@dataclass(frozen=True, slots=True)
class FileRange:
    """A range of a file: the stripes, row groups or blocks that belong to it are read.

    Attributes:
        path: The file.
        start: First byte.
        length: Bytes.
    """

    path: str
    start: int
    length: int

    @property
    def end(self) -> int:
        """The first byte behind the range."""
        return self.start + self.length

    def holds(self, offset: int) -> bool:
        """Whether a byte of the file lies in the range."""
        return self.start <= offset < self.end


@dataclass(frozen=True, slots=True)
class FileRead:
    """The read of one range of a file.

    A column comes from the file, or it is a constant of the file, or a stage makes it (``synthetic``).

    Attributes:
        file: The range.
        columns: What to read, in output order; nested types may be narrowed.
        constants: Values of the columns that are not in the file, by name.
        synthetic: Names of the columns that a stage makes, such as row ids.
        sources: Where the other columns are in the file; by their own names where nothing is said.
        predicate: Parts of the file that hold no row of it by their statistics are skipped. A column whose values
            change after the read must not be in it.
        conditions: As ``predicate``, for what domains cannot say: fields of structs, and an OR over columns.
        rules: How types of the file become those of the columns.
        whole_types: The table's types of nested columns, by name, where those of ``columns`` may be narrowed and the
            rules find fields by position.
        zone: Zone to show instants in where the table's type is a wall-clock time and the file names no zone.
        batch_rows: Most rows of a batch.
        skips_rows: Rows outside of the predicate need not be given. Never set it where rows are known by their
            position in the file.
    """

    file: FileRange
    columns: tuple[ColumnHandle, ...]
    constants: Mapping[str, Value | None] = field(default_factory=dict)
    synthetic: frozenset[str] = frozenset()
    sources: Mapping[str, ColumnSource] | SourceResolver = field(default_factory=dict)
    predicate: TupleDomain[ColumnHandle] = field(default_factory=TupleDomain.all)
    conditions: tuple[ConnectorExpression, ...] = ()
    rules: CastRules = LOSSY
    whole_types: Mapping[str, pa.DataType] = field(default_factory=dict)
    zone: str = "UTC"
    batch_rows: int = BATCH_ROWS
    skips_rows: bool = False

    @property
    def path(self) -> str:
        """The file."""
        return self.file.path

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the batches."""
        return pa.schema([pa.field(column.name, column.type) for column in self.columns])

    @property
    def file_columns(self) -> tuple[ColumnHandle, ...]:
        """The columns that come from the file, in output order."""
        return tuple(column for column in self.columns if self._is_in_file(column))

    @property
    def file_predicate(self) -> TupleDomain[ColumnHandle]:
        """The predicate on columns of the file. A reader would take others for columns that are NULL."""
        return self.predicate.keep(self._is_in_file)

    @property
    def may_have_rows(self) -> bool:
        """Whether the predicate allows for the constants."""
        if self.predicate.is_none:
            return False
        domains = dict(self.predicate.domains or {})
        fits = all(
            domain.includes_value(self.constants[column.name])
            for column, domain in domains.items()
            if column.name in self.constants
        )
        return fits and all(may_be_true(condition, self.may_hold_constant) for condition in self.conditions)

    @property
    def file_conditions(self) -> tuple[ConnectorExpression, ...]:
        """The conditions that look at columns of the file."""
        return tuple(
            condition
            for condition in self.conditions
            if any(self._is_in_file(reference.column) for reference in references(condition))
        )

    def may_hold_constant(self, reference: Reference, domain: Domain) -> bool:
        """Whether a domain has the value of a column, if that is a constant; true of other columns."""
        name = reference.column.name
        return bool(reference.path) or name not in self.constants or domain.includes_value(self.constants[name])

    def finds(self, reference: Reference) -> bool:
        """Whether a column comes from the file, and a field of it is found by name."""
        return self._is_in_file(reference.column) and not (reference.path and self.rules.fields_by_position)

    def sources_in(self, schema: pa.Schema) -> Mapping[str, ColumnSource]:
        """Where the columns are in a file of this schema."""
        return self.sources(schema) if callable(self.sources) else self.sources

    def adapter(
        self,
        schema: pa.Schema,
        columns: tuple[ColumnHandle, ...],
        sources: Mapping[str, ColumnSource],
        conventions: TimeConventions,
    ) -> SchemaAdapter:
        """Brings some columns of the file into the table's types.

        Args:
            schema: What is read of the file.
            columns: The columns.
            sources: Where they are in ``schema``.
            conventions: The file's calendar and zone.

        Raises:
            NotSupportedError: A column's type in the file cannot become its type in the table.
        """
        return SchemaAdapter(
            schema,
            columns,
            sources=sources,
            conventions=conventions,
            where=self.path,
            rules=self.rules,
            whole=self.whole_types,
        )

    def _is_in_file(self, column: ColumnHandle) -> bool:
        return column.name not in self.constants and column.name not in self.synthetic
