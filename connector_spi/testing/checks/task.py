"""What travels to a task, and what a task may meet there (invariants I2, I4, I5)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

import pyarrow as pa

from connector_spi.predicate import Domain, TupleDomain
from connector_spi.testing.base import ConformanceBase, assert_same_rows
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.other_process import read_in_another_process
from connector_spi.testing.reading import ReferenceQuery, ReferenceScan, read_table, rows_that_fit
from connector_spi.testing.sample_data import mixed_table
from connector_spi.testing.shared_checks import assert_travels

__all__ = ["TaskChecks"]

_ROWS = pa.table({"id": pa.array(range(10), pa.int64()), "name": pa.array([f"n{row}" for row in range(10)])})

_ZONES = ("Asia/Kathmandu", "America/St_Johns")
"""Neither is a whole number of hours away from UTC."""


class TaskChecks(ConformanceBase):
    """Plain data, pickles, page sources that are closed early or twice, and another process.

    Attributes:
        barred_in_tasks: Top-level modules that a task must not import.
    """

    barred_in_tasks: ClassVar[frozenset[str]] = frozenset({"catalog", "lakeport", "py4j", "pyspark", "thrift"})

    def test_what_travels_is_equal_after_pickle_and_json(self) -> None:
        with self.query() as query:
            scan = self._pushed(query)
            splits, summary = scan.splits()
        assert splits
        for sent in (scan.table, *scan.handles.values(), *splits, scan.query.session, scan.remaining, summary):
            assert_travels(sent)

    def test_splits_say_their_size(self) -> None:
        with self.query() as query:
            splits, _ = self._pushed(query).splits()
        assert all(split.size_bytes >= 0 for split in splits)
        for split in splits:
            native = split.native_file
            if native is not None:
                assert native.format in ("parquet", "orc")
                assert 0 <= native.start <= native.start + native.length <= native.file_size

    def test_a_task_reads_in_another_process_and_meets_no_driver_module(self) -> None:
        """What was pushed has to be in what travels, and a task's time zone is any."""
        data = mixed_table(self.missing_behaviours)
        name = self.made(data, ("part",) if self.has(Behaviour.PARTITIONED_TABLES) else ())
        few = Domain.multiple_values(pa.int64(), [4, 9, 17])
        predicates = [TupleDomain[str].all(), TupleDomain({"id": few}), self._times(data)]
        with self.query() as query:
            scans = [query.table(name).filter_by_name(one).project_names(data.column_names) for one in predicates]
            roots, tables = read_in_another_process(scans)
        barred = self.barred_in_tasks & roots
        assert not barred, f"reading a split imports {sorted(barred)}"
        for scan, predicate, met in zip(scans, predicates, tables, strict=True):
            left = rows_that_fit(met, scan.remaining.transform_keys(lambda column: column.name))
            try:
                assert_same_rows(left.select(data.column_names), rows_that_fit(data, predicate))
            except AssertionError as error:
                raise AssertionError(f"in another process, filter {predicate}: {error}") from None

    def test_the_time_zone_of_the_process_changes_nothing(self) -> None:
        data = mixed_table(self.missing_behaviours)
        name = self.made(data)
        for zone in _ZONES:
            with _process_time_zone(zone):
                for predicate in (TupleDomain[str].all(), self._times(data)):
                    met = read_table(self.connector, name, data.column_names, predicate)
                    try:
                        assert_same_rows(met, rows_that_fit(data, predicate))
                    except AssertionError as error:
                        raise AssertionError(f"under TZ={zone}, filter {predicate}: {error}") from None

    def test_a_page_source_may_be_closed_twice_before_the_end_and_at_once(self) -> None:
        name = self.made(_ROWS)
        with self.query() as query:
            scan = query.table(name)
            split = scan.splits()[0][0]
            for batches_taken in (0, 1, None):
                source = self.connector.page_source_provider.create_page_source(
                    query.session, split, scan.table, scan.columns, TupleDomain.all()
                )
                if batches_taken is None:
                    assert sum(batch.num_rows for batch in source) > 0
                else:
                    for _ in range(batches_taken):
                        next(source)
                assert source.completed_bytes >= 0
                source.close()
                source.close()

    def test_a_split_can_be_read_again(self) -> None:
        name = self.made(_ROWS)
        with self.query() as query:
            scan = query.table(name)
            split = scan.splits()[0][0]
            assert_same_rows(scan.read_split(split), scan.read_split(split))

    def _times(self, data: pa.Table) -> TupleDomain[str]:
        """The second value of each column of times."""
        found = {}
        for field in data.schema:
            if pa.types.is_temporal(field.type):
                value = data.column(field.name).drop_null().unique()[1].as_py()
                found[field.name] = Domain.single_value(field.type, value)
        return TupleDomain.with_column_domains(found)

    def _pushed(self, query: ReferenceQuery) -> ReferenceScan:
        data = mixed_table(self.missing_behaviours)
        name = self.made(data, ("part",) if self.has(Behaviour.PARTITIONED_TABLES) else ())
        predicate = TupleDomain(
            {
                "part": Domain.multiple_values(pa.string(), ["p1", "p2"]),
                "id": Domain.multiple_values(pa.int64(), [6, 7, 11]),
                "name": Domain.not_null(pa.string()),
            }
        )
        return query.table(name).filter_by_name(predicate).project_names(["id", "name"])


@contextmanager
def _process_time_zone(zone: str) -> Iterator[None]:
    before = os.environ.get("TZ")
    try:
        _set_time_zone(zone)
        yield
    finally:
        _set_time_zone(before)


def _set_time_zone(zone: str | None) -> None:
    if zone is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = zone
    if hasattr(time, "tzset"):
        time.tzset()
