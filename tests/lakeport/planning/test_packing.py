"""From splits to tasks."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from connector_spi.handles import Split
from lakeport.planning.packing import Packing, cut_splits, pack_splits

_MB = 1 << 20


@dataclass(frozen=True, slots=True)
class Sized(Split):
    size: int

    @property
    def size_bytes(self) -> int:
        return self.size


@dataclass(frozen=True, slots=True)
class Ranged(Sized):
    """Bytes of a file that can be cut anywhere."""

    start: int = 0

    def cut(self, most_bytes: int) -> list[Ranged]:
        starts = range(self.start, self.start + self.size, most_bytes)
        return [Ranged(min(most_bytes, self.start + self.size - start), start) for start in starts]


_HOW = st.builds(Packing, st.integers(1, 8), st.integers(1, 2000), st.integers(1, 50))


@given(st.lists(st.integers(0, 1000)), _HOW)
def test_packing_keeps_every_split_once(sizes: list[int], how: Packing) -> None:
    splits = [Sized(size) for size in sizes]
    tasks = pack_splits(splits, how)
    assert sorted(split.size_bytes for task in tasks for split in task) == sorted(sizes)
    assert all(tasks)
    for task in tasks:
        filled = sum(split.size_bytes for split in task) + how.open_cost * (len(task) - 1)
        assert len(task) == 1 or filled <= how.max_bytes


@given(st.lists(st.integers(1, 1000)), _HOW)
def test_cut_splits_cover_the_same_bytes(sizes: list[int], how: Packing) -> None:
    splits = [Ranged(size, number * 1000) for number, size in enumerate(sizes)]
    cut = cut_splits(splits, how)
    assert all(isinstance(part, Ranged) and part.size <= how.task_bytes(splits) for part in cut)
    covered = [byte for part in cut if isinstance(part, Ranged) for byte in range(part.start, part.start + part.size)]
    assert covered == [byte for split in splits for byte in range(split.start, split.start + split.size)]


def test_splits_that_cannot_be_cut_stay() -> None:
    splits = [Sized(1000), Sized(3)]
    assert cut_splits(splits, Packing(8, 2000, 1)) == splits


def test_a_large_and_a_small_file_are_work_for_all_cores() -> None:
    for cores in (2, 8):
        how = Packing(cores, 128 * _MB, 4 * _MB)
        splits = [Ranged(138 * _MB), Ranged(3 * _MB, 1 << 40)]
        tasks = [sum(part.size_bytes for part in task) for task in pack_splits(cut_splits(splits, how), how)]
        assert max(tasks) <= 1.1 * sum(tasks) / cores
        assert len(tasks) <= cores + 1


def test_packing_uses_all_cores_for_small_tables() -> None:
    assert len(pack_splits([Sized(100)] * 8, Packing(4, 1 << 27, 1))) == 4
    assert len(pack_splits([Sized(1)] * 10_000, Packing(2, 1 << 27, 4 << 20))) < 500
