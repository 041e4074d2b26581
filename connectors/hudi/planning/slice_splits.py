"""From file slices to splits. Driver side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, Reference, TupleDomain, Value, may_be_true
from connectors.hudi.file_group.slices import FileSlice
from connectors.hudi.handles import LOG_ONLY, HudiSplit, HudiTableHandle, LogFile, SourceFile
from connectors.hudi.hidden_columns import hidden_values
from connectors.hudi.planning.file_slice_plan import PartitionSlices
from connectors.hudi.planning.native_reading import NativeReading

__all__ = ["RangeSplits", "SliceSplits"]

# Every split of a slice decodes all its logs. So many bytes of them take less than the start of a task.
_SMALL_LOGS = 8 << 20
# Avro of all columns takes several times the work of as much Parquet of a few.
_BASE_OF_LOGS = 2


class SliceSplits:
    """Makes splits of whole file slices.

    Args:
        table: The table.
        schemas: The user columns of base files, by the write that made them; ``None`` is unknown.
        sources: The files that hold the rows of skeleton files, by path of the skeleton.
    """

    def __init__(
        self,
        table: HudiTableHandle,
        schemas: Mapping[str, pa.Schema | None],
        sources: Mapping[str, SourceFile],
    ) -> None:
        self.table = table
        self._paths = table.partition_paths
        self._drops_partition_columns = table.config.drop_partition_columns
        self._schemas = schemas
        self._sources = sources

    def whole(self, partition: str, file_slice: FileSlice) -> HudiSplit:
        """A slice as one split; the rows that are in its logs alone come with it."""
        file = file_slice.base if file_slice.base is not None else file_slice.logs[0]
        source = self._sources.get(file.path)
        return HudiSplit(
            path=file.path,
            start=0,
            length=file.size,
            file_size=file.size,
            modified_millis=file.modified_millis,
            format=file.path.rpartition(".")[2] if file_slice.base is not None else LOG_ONLY,
            partition=partition,
            file_id=file_slice.file_id,
            base_instant=file.name.instant if file_slice.base is not None else file_slice.base_instant,
            path_values=tuple(self._path_values(partition, file_slice, source).items()),
            logs=tuple(LogFile(log.path, log.size) for log in file_slice.logs),
            holds_inserts=bool(file_slice.logs),
            source=source,
        )

    def _path_values(
        self, partition: str, file_slice: FileSlice, source: SourceFile | None
    ) -> Mapping[str, Value | None]:
        """Values of the partition fields that the slice's files are known to lack."""
        if source is not None:
            # Only the original file itself says whether it has the partition fields.
            return {}
        values = self._paths.values(partition)
        schema = self._schemas.get(file_slice.base.name.instant) if file_slice.base is not None else None
        if schema is None:
            return values if self._drops_partition_columns else {}
        lowered = {name.lower() for name in schema.names}
        return {name: value for name, value in values.items() if name.lower() not in lowered}


class RangeSplits:
    """Makes the splits of one scan: ranges of base files, without those that constants rule out.

    Args:
        slices: Makes splits of whole slices.
        columns: The columns of the scan.
        constraint: What its rows fit.
        native: Decides what the engine may read natively.
        max_size: Bytes of a base file that a split has at most.

    Attributes:
        files_pruned: Files pruned by what is known of them without opening.
    """

    def __init__(
        self,
        slices: SliceSplits,
        columns: tuple[ColumnHandle, ...],
        constraint: TupleDomain[ColumnHandle],
        native: NativeReading,
        max_size: int,
    ) -> None:
        self._slices = slices
        self._columns = columns
        self._domains: dict[str, Domain] = {
            column.name: domain for column, domain in dict(constraint.domains or {}).items()
        }
        self._conditions = slices.table.conditions
        self._native = native
        self._max_size = max_size
        self.files_pruned = 0

    def of(self, partition: PartitionSlices) -> Iterator[HudiSplit]:
        """The splits of a partition's slices, in order."""
        for file_slice in partition.slices:
            yield from self._ranges(self._slices.whole(partition.path, file_slice))

    def _ranges(self, whole: HudiSplit) -> Iterator[HudiSplit]:
        constants: dict[str, Value | None] = {**dict(whole.path_values), **hidden_values(whole)}
        if not self._may_fit(whole.partition, constants):
            self.files_pruned += 1
            return
        if self._native.is_right_for(whole, frozenset(constants)):
            asked = tuple((column.name, constants[column.name]) for column in self._columns if column.name in constants)
            whole = replace(whole, native=True, constants=asked)
        step = self._step(whole)
        for start in range(0, max(whole.length, 1), step):
            length = min(step, whole.length - start)
            yield replace(whole, start=start, length=length, holds_inserts=start == 0 and whole.holds_inserts)

    def _may_fit(self, partition: str, constants: Mapping[str, Value | None]) -> bool:
        def may_hold(reference: Reference, domain: Domain) -> bool:
            if not reference.path and reference.column.name in constants:
                return domain.includes_value(constants[reference.column.name])
            return self._slices.table.partition_paths.may_hold_in(partition, reference, domain)

        if not all(self._domains[name].includes_value(constants[name]) for name in self._domains if name in constants):
            return False
        return all(may_be_true(condition, may_hold) for condition in self._conditions)

    def _step(self, whole: HudiSplit) -> int:
        """Bytes of a base file that a split has: with large logs as many as are worth decoding all logs again."""
        if not whole.has_base or whole.source is not None:
            return max(whole.length, 1)
        logs = sum(log.size for log in whole.logs)
        return self._max_size if logs < _SMALL_LOGS else max(self._max_size, logs * _BASE_OF_LOGS)
