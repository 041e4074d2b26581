"""What Spark is told of how rows lie, by what the other tables of a query are like; and tasks that keep to keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pytest

from connector_spi.handles import Split
from connector_spi.optional.partitioning import TablePartitioning
from connector_spi.optional.writing import BucketFunction
from lakeport.planning.packing import Packing
from lakeport.spark.scan.partitioning.keyed_splits import Key, KeyedSplits
from lakeport.spark.scan.partitioning.pushdown_round import PushdownRound
from lakeport.spark.scan.partitioning.table_layout import TableLayout

BUCKET = BucketFunction("hive 2", ("id",), ("",), 8)
LAYOUT = TableLayout(
    keys=("ds",),
    key_types=(pa.string(),),
    bucket=BUCKET,
    bucket_type=pa.int64(),
    tells_always=False,
    other_counts=False,
)
PLAIN = replace(LAYOUT, bucket=None, bucket_type=None)
BY_BUCKET, BY_KEY = TablePartitioning(bucketed_by=BUCKET), TablePartitioning(("ds",))


def with_bucket(**changes: object) -> TableLayout:
    return replace(LAYOUT, keys=(), key_types=(), bucket=replace(BUCKET, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([], None),
        ([LAYOUT], BY_BUCKET),
        ([with_bucket(columns=("other",))], BY_BUCKET),
        ([with_bucket(count=16)], None),
        ([with_bucket(name="hive 1")], None),
        ([with_bucket(kinds=("char",))], None),
        ([replace(with_bucket(), bucket_type=pa.int32())], None),
        ([with_bucket(count=16), LAYOUT], BY_BUCKET),
        ([PLAIN], BY_KEY),
        ([replace(PLAIN, keys=("day",))], BY_KEY),
        ([replace(PLAIN, key_types=(pa.date32(),))], None),
        ([replace(PLAIN, keys=("ds", "hour"), key_types=(pa.string(), pa.int32()))], None),
    ],
)
def test_only_what_another_table_has_too_is_told(
    others: Sequence[TableLayout], expected: TablePartitioning | None
) -> None:
    assert LAYOUT.told(others) == expected


def test_other_numbers_of_buckets_need_a_common_factor_and_the_setting() -> None:
    mine = replace(LAYOUT, other_counts=True)
    assert mine.told([with_bucket(count=12)]) == BY_BUCKET
    assert mine.told([with_bucket(count=9)]) is None


def test_a_table_may_always_be_told_of() -> None:
    assert replace(LAYOUT, tells_always=True).told([]) == BY_BUCKET
    assert replace(PLAIN, tells_always=True).told([]) == BY_KEY


def test_a_table_that_is_read_twice_has_itself_for_another() -> None:
    first, second = replace(LAYOUT), replace(LAYOUT)
    together = PushdownRound.join(first)
    assert PushdownRound.join(None) is PushdownRound.join(second) is together
    together.begin_pushing()
    assert together.others(first) == [second]
    assert together.others(second)[0] is first
    assert PushdownRound.join(first) is not together


@dataclass(frozen=True, slots=True)
class Piece(Split):
    """A split of some bytes."""

    name: str
    size: int

    @property
    def size_bytes(self) -> int:
        return self.size


def test_tasks_have_one_key_each_and_are_not_cut_smaller_for_it() -> None:
    pieces = [Piece(f"p{n}", 10) for n in range(40)]
    keys: dict[Split, Key] = {piece: (n % 4,) for n, piece in enumerate(pieces)}
    keyed = KeyedSplits(BY_BUCKET, keys, frozenset(keys.values()))
    tasks = keyed.tasks(pieces, Packing(parallelism=2, max_bytes=1000, open_cost=1))
    assert [key for key, _ in tasks] == [(0,), (1,), (2,), (3,)]
    assert all(keys[split] == key for key, task in tasks for split in task)
    assert sorted(split.name for _, task in tasks for split in task if isinstance(split, Piece)) == sorted(
        piece.name for piece in pieces
    )
    smaller = keyed.tasks(pieces, Packing(parallelism=2, max_bytes=50, open_cost=1))
    assert len(smaller) > 4
    assert {key for key, _ in smaller} == set(keys.values())


def test_a_scan_of_which_nothing_is_left_keeps_a_key() -> None:
    keyed = KeyedSplits(BY_BUCKET, {}, frozenset({(3,)}))
    assert keyed.tasks([], Packing(parallelism=2, max_bytes=1000, open_cost=1)) == [((3,), ())]
