"""From a split to record batches. Executor side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import cast

import pyarrow as pa

from connector_spi.errors import InternalError
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.page_source import PageSource, PageSourceProvider
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connectors.hive.acid.acid_page_source import AcidPageSource
from connectors.hive.acid.change_page_source import ChangePageSource
from connectors.hive.acid.changes import CHANGE_COLUMNS, RowChanges
from connectors.hive.acid.deletes import MAX_DELETE_MEMORY
from connectors.hive.acid.key_columns import ACID_HIDDEN_COLUMNS
from connectors.hive.acid.valid_ids import AcidSnapshot
from connectors.hive.file_columns import file_sources
from connectors.hive.handles import HiveSplit, HiveTableHandle
from connectors.hive.text_types import TextRule, apply_text_rule
from connectors.toolkit.filesystem import FileSystem
from connectors.toolkit.orc_reader import OrcPageSource
from connectors.toolkit.parquet_reader import ParquetPageSource
from connectors.toolkit.schema_adapter import ColumnSource

__all__ = ["HivePageSourceProvider"]


@dataclass(frozen=True, slots=True)
class HivePageSourceProvider(PageSourceProvider):
    """Opens ranges of ORC and Parquet files.

    Attributes:
        files: Storage.
        orc_by_name: Find columns of ORC files by name.
        parquet_by_name: Find columns of Parquet files by name.
        parquet_zone: Zone of Parquet's instants where the file names none; empty for the session's.
    """

    files: FileSystem
    orc_by_name: bool = True
    parquet_by_name: bool = True
    parquet_zone: str = ""

    def create_page_source(
        self,
        session: ConnectorSession,
        split: Split,
        table: TableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> PageSource:
        if not isinstance(split, HiveSplit) or not isinstance(table, HiveTableHandle):
            raise InternalError(f"expected a Hive split and table, met {type(split).__name__}, {type(table).__name__}")
        rules = dict(table.text_rules)
        predicate = table.constraint.intersect(dynamic_filter)
        # Statistics of files are of texts that are not padded and cut yet.
        predicate = predicate.keep(lambda column: column.name not in rules or column in table.partition_keys)
        used = {column.name for column in (*columns, *dict(predicate.domains or {}))}
        constants = {name: value for name, value in split.constants().items() if name in used}
        by_name = self.orc_by_name if split.format == "orc" else self.parquet_by_name
        if split.acid is not None and not split.acid.original:
            # Hive finds the columns of ACID files by their places, also renamed ones, and so does Trino.
            by_name = False
        predicate = predicate.keep(lambda column: column not in ACID_HIDDEN_COLUMNS)
        names = [column.name for column in table.data_columns]

        def sources(schema: pa.Schema) -> Mapping[str, ColumnSource]:
            return file_sources(schema, names, split.partition_columns, by_name=by_name)

        zone = self.parquet_zone or session.time_zone
        texts = {column.name: rules[column.name] for column in columns if column.name in rules}
        place = split.start, split.length
        if split.acid is None or table.snapshot is None:
            read = OrcPageSource if split.format == "orc" else ParquetPageSource
            source: PageSource = read(
                self.files, split.path, *place, columns, constants, predicate, sources=sources, zone=zone
            )
        else:
            make = _acid_source(table, split, table.snapshot)
            source = make(
                self.files,
                split.acid,
                *place,
                columns,
                constants,
                predicate.keep(lambda column: column not in CHANGE_COLUMNS),
                sources=sources,
                delete_memory=cast(int, session.get_property(MAX_DELETE_MEMORY)),
                zone=zone,
            )
        return _TextPageSource(source, texts) if texts else source


def _acid_source(table: HiveTableHandle, split: HiveSplit, snapshot: AcidSnapshot) -> Callable[..., PageSource]:
    """What reads a file of a full ACID table, or what became of its rows."""
    if table.changes is None:
        return partial(AcidPageSource, visible=snapshot.visible)
    if not isinstance(split.changes, RowChanges):
        raise InternalError(f"the split of {split.path} tells no changes, and those of {table.name} are read")
    visible = snapshot.at(max(table.changes.last, 0)).visible
    return partial(ChangePageSource, visible=visible, changes=split.changes, span=table.changes)


class _TextPageSource(PageSource):
    """Pads and cuts the columns with char and varchar in them."""

    def __init__(self, source: PageSource, rules: Mapping[str, TextRule]) -> None:
        self._source = source
        self._rules = rules

    @property
    def schema(self) -> pa.Schema:
        return self._source.schema

    @property
    def completed_bytes(self) -> int:
        return self._source.completed_bytes

    def __next__(self) -> pa.RecordBatch:
        batch = next(self._source)
        columns = [
            apply_text_rule(column, self._rules[name]) if name in self._rules else column
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)

    def close(self) -> None:
        self._source.close()
