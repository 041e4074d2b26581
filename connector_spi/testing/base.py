"""What a connector author fills in, and what the checks share."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pytest

from connector_spi.connector import SPI_VERSION, Connector, ConnectorContext, ConnectorFactory
from connector_spi.metadata import TableVersion
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Value
from connector_spi.properties import parse_properties
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.reading import ReferenceQuery

__all__ = ["SCHEMA", "ConformanceBase", "assert_same_rows", "open_files", "same_type"]

SCHEMA = "conformance"
_DESCRIPTORS = "/proc/self/fd"
_SHOWN = 5


class ConformanceBase(ABC):
    """The hooks. Each test gets a connector and a folder of its own.

    Attributes:
        missing_behaviours: What the connector cannot do; everything else is checked.
        refused_in_inserts: Types of columns that the connector reads, and to whose tables it adds no rows.
        new_table_provider: What ``USING`` says of tables that are made with their rows; ``None`` leaves it out.
        empty_system_tables: Kinds of system tables that have no rows for a table just made.
        max_examples: Random predicates for each property.
        seconds_for_splits: Planning the splits of a small table is taken for endless after this.
        connector: The connector of the running test.
        folder: An empty folder for the files of the running test.
        open_at_first: What ``open_files`` said before the connector was made.
    """

    missing_behaviours: ClassVar[frozenset[Behaviour]] = frozenset()
    refused_in_inserts: ClassVar[frozenset[Behaviour]] = frozenset()
    new_table_provider: ClassVar[str | None] = None
    empty_system_tables: ClassVar[frozenset[str]] = frozenset()
    max_examples: ClassVar[int] = 50
    seconds_for_splits: ClassVar[float] = 60.0

    connector: Connector
    folder: Path
    open_at_first: Mapping[str, str]
    _proven: Behaviour | None = None

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        strange = set[object](cls.missing_behaviours).difference(Behaviour)
        if strange:
            raise TypeError(f"{cls.__name__}.missing_behaviours holds {strange}; expected members of Behaviour")

    @abstractmethod
    def factory(self) -> ConnectorFactory:
        """The connector under test."""

    @abstractmethod
    def create_table(self, name: SchemaTableName, data: pa.Table, partitioned_by: Sequence[str]) -> None:
        """Makes a table that ``self.connector`` shows, and its schema where that is missing.

        Args:
            name: Lower case.
            data: Columns and rows; ``id`` is unique.
            partitioned_by: Partition keys; empty for a table without.
        """

    def catalog_properties(self) -> Mapping[str, str]:
        """What the catalog file would say, ``connector.name`` left out; may name places in ``self.folder``."""
        return {}

    def add_rows(self, name: SchemaTableName, data: pa.Table) -> None:
        """Adds rows to a table that ``create_table`` made without partitions.

        Needed for ``ADDED_ROWS``, ``SNAPSHOT_ISOLATION`` and ``TIME_TRAVEL``.
        """
        raise NotImplementedError(
            "add_rows is needed, unless ADDED_ROWS, SNAPSHOT_ISOLATION and TIME_TRAVEL are missing"
        )

    def damage(self, name: SchemaTableName, *, delete: bool) -> None:
        """Damages the data of a table that ``create_table`` made without partitions. Needed for ``DAMAGED_DATA``.

        Args:
            name: The table.
            delete: Deletes its data, as someone else would; else cuts it, so that the second half is gone.
        """
        raise NotImplementedError("damage is needed, unless DAMAGED_DATA is missing")

    def procedure_arguments(self, procedure: str, name: SchemaTableName) -> Mapping[str, Value | None] | None:
        """Arguments with which a procedure succeeds. Needed for ``PROCEDURES``.

        Args:
            procedure: Its name.
            name: A table that ``create_table`` made without partitions; the procedure may change it.

        Returns:
            Those to be given by name; ``None`` where it cannot succeed here. At least one procedure has to.
        """
        raise NotImplementedError("procedure_arguments is needed, unless PROCEDURES is missing")

    def merge_rows(self, name: SchemaTableName, data: pa.Table, deletes: Sequence[int]) -> None:
        """Makes one new version of a table that ``create_table`` made without partitions.

        Needed for ``CHANGES`` and ``STREAMING``.

        Args:
            name: The table.
            data: Rows that replace the row of their ``id``, or are added where there is none.
            deletes: The ``id`` of rows to take away; some may not be there, none is in ``data``.
        """
        raise NotImplementedError("merge_rows is needed, unless CHANGES is missing")

    def newest_version(self, name: SchemaTableName) -> TableVersion:
        """The version that means the table as it is now. Needed for ``TIME_TRAVEL``, ``CHANGES`` and ``STREAMING``."""
        raise NotImplementedError("newest_version is needed, unless TIME_TRAVEL and CHANGES are missing")

    @pytest.fixture(autouse=True)
    def _own_connector(self, tmp_path: Path) -> Iterator[None]:
        self.folder = tmp_path
        self.open_at_first = open_files()
        self.connector = self.create_connector()
        yield
        self.connector.shutdown()

    def create_connector(self) -> Connector:
        """A connector made as the engine makes it."""
        factory = self.factory()
        properties = parse_properties(factory.config_properties, self.catalog_properties(), lambda name: name)
        return factory.create("conformance", properties, ConnectorContext(SPI_VERSION, "0"))

    def has(self, behaviour: Behaviour) -> bool:
        """Whether the connector has an ability."""
        return behaviour not in self.missing_behaviours or behaviour is self._proven

    def require(self, *behaviours: Behaviour) -> None:
        """Skips the running test where the connector lacks one of the abilities."""
        for behaviour in behaviours:
            if not self.has(behaviour):
                pytest.skip(f"the connector lacks {behaviour.name}: {behaviour.value}")

    def made(self, data: pa.Table, partitioned_by: Sequence[str] = (), table: str = "t") -> SchemaTableName:
        """Makes a table and returns its name."""
        name = SchemaTableName(SCHEMA, table)
        self.create_table(name, data, partitioned_by)
        return name

    def query(self, session_properties: Mapping[str, str] | None = None) -> ReferenceQuery:
        """A new query on the connector."""
        return ReferenceQuery(self.connector, session_properties)


def assert_same_rows(met: pa.Table, expected: pa.Table) -> None:
    """Asserts that two tables hold the same rows, in any order, with the same columns in the same order."""
    if met.column_names != expected.column_names:
        raise AssertionError(f"the columns are {met.column_names}, expected {expected.column_names}")
    met_rows, expected_rows = _bag(met), _bag(expected)
    if met_rows != expected_rows:
        raise AssertionError(_difference(met.column_names, met_rows, expected_rows))


def open_files() -> Mapping[str, str]:
    """Files and sockets that this process has open, by descriptor; nothing where the system does not tell."""
    found = {}
    for number in os.listdir(_DESCRIPTORS) if os.path.isdir(_DESCRIPTORS) else ():
        with suppress(OSError):  # that of the listing itself
            target = os.readlink(f"{_DESCRIPTORS}/{number}")
            if target.startswith(("/", "socket:")) and not target.startswith(("/dev/", "/proc/")):
                found[number] = target
    return found


def same_type(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether two types hold the same values: names and nullability of list and map children do not count."""
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        return [field.name for field in one] == [field.name for field in other] and all(
            same_type(mine.type, theirs.type) for mine, theirs in zip(one, other, strict=True)
        )
    if pa.types.is_list(one) and pa.types.is_list(other):
        return same_type(one.value_type, other.value_type)
    if pa.types.is_map(one) and pa.types.is_map(other):
        return same_type(one.key_type, other.key_type) and same_type(one.item_type, other.item_type)
    return bool(one == other)


def _bag(table: pa.Table) -> Counter[tuple[str, ...]]:
    # repr distinguishes NaN from null and 0.0 from -0.0, and is equal for equal values of all types.
    columns = [map(repr, table.column(index).to_pylist()) for index in range(table.num_columns)]
    return Counter(zip(*columns, strict=True))


def _difference(columns: Sequence[str], met: Counter[tuple[str, ...]], expected: Counter[tuple[str, ...]]) -> str:
    """Which rows differ, as a diff, and in which columns where the rows can be paired by ``id``."""
    missing, surplus = sorted((expected - met).elements()), sorted((met - expected).elements())
    lines = [f"{len(missing)} rows are missing (-), {len(surplus)} should not be there (+); {sum(met.values())} came"]
    at = columns.index("id") if "id" in columns else 0
    paired = {row[at]: row for row in surplus}
    differing = {
        column
        for row in missing
        for column, one, other in zip(columns, row, paired.get(row[at], row), strict=True)
        if one != other
    }
    if differing:
        lines.append(f"rows with the same {columns[at]} differ in the columns {sorted(differing)}")
    for sign, rows in (("-", missing), ("+", surplus)):
        for row in rows[:_SHOWN]:
            values = ", ".join(f"{column}={value}" for column, value in zip(columns, row, strict=True))
            lines.append(f"{sign} {values}")
    return "\n".join(lines)
