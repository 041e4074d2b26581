"""What a scan reads: file slices by partition. Driver side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from connectors.hudi.file_group.slices import DataFile, FileSlice

__all__ = ["FileSlicePlan", "PartitionSlices"]


_PARTITION_BYTES = 500


@dataclass(frozen=True, slots=True)
class PartitionSlices:
    """The file slices that a partition's rows are in.

    Attributes:
        path: Path of the partition, relative to the table.
        slices: By file group id.
    """

    path: str
    slices: tuple[FileSlice, ...]


@dataclass(frozen=True, slots=True)
class FileSlicePlan:
    """What a scan reads.

    Attributes:
        partitions: By path.
        pruned: Partitions pruned by their paths or statistics; ``None`` where that is not known.
        skipped: File slices pruned by what the metadata table knows of them.
        notes: On the way in which they were found, for ``EXPLAIN``.
        unlisted: Folders pruned whose partitions are not counted in ``pruned``.
        is_lasting: It would be found again the same way; no storage failed that may work later.
    """

    partitions: tuple[PartitionSlices, ...]
    pruned: int | None
    skipped: int = 0
    notes: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    is_lasting: bool = True

    @property
    def nbytes(self) -> int:
        """About the memory that it takes; its slices are those of the snapshot."""
        return _PARTITION_BYTES * len(self.partitions)

    @property
    def partitions_total(self) -> int | None:
        """Partitions of the table; ``None`` where that is not known."""
        if self.pruned is None or self.unlisted:
            return None
        return self.partitions_kept + self.pruned

    @property
    def partitions_kept(self) -> int:
        """Partitions with something to read."""
        return sum(1 for partition in self.partitions if partition.slices)

    @property
    def slices(self) -> Iterator[FileSlice]:
        """All file slices, in order."""
        return (file_slice for partition in self.partitions for file_slice in partition.slices)

    @property
    def base_files(self) -> Iterator[DataFile]:
        """All base files, in order."""
        return (file_slice.base for file_slice in self.slices if file_slice.base is not None)
