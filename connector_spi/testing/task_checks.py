"""What travels to a task, and what a task may meet there (invariants I2, I4, I5)."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from typing import ClassVar

import pyarrow as pa

from connector_spi.predicate import Domain, TupleDomain
from connector_spi.serializable import Serializable, from_json, to_json
from connector_spi.testing.base import ConformanceBase, assert_same_rows
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.reading import ReferenceQuery, ReferenceScan
from connector_spi.testing.sample_data import mixed_table

__all__ = ["TaskChecks"]

_ROWS = pa.table({"id": pa.array(range(10), pa.int64()), "name": pa.array([f"n{row}" for row in range(10)])})

_TASK = """
import io, json, pickle, sys
import pyarrow as pa
provider, session, splits, table, columns, everything = pickle.load(sys.stdin.buffer)
sink = io.BytesIO()
schema = pa.schema([(column.name, column.type) for column in columns])
with pa.ipc.new_stream(sink, schema) as writer:
    for split in splits:
        with provider.create_page_source(session, split, table, columns, everything) as source:
            for batch in source:
                writer.write_batch(batch)
roots = sorted({name.partition(".")[0] for name in sys.modules})
sys.stdout.buffer.write(json.dumps(roots).encode() + b"\\n" + sink.getvalue())
"""


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
            assert pickle.loads(pickle.dumps(sent)) == sent
            back = from_json(to_json(sent), Serializable)
            assert back == sent
            assert type(back) is type(sent)
            assert hash(back) == hash(sent)

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
        name = self.made(_ROWS)
        with self.query() as query:
            scan = query.table(name)
            splits, _ = scan.splits()
            columns = scan.read_columns()
            provider = self.connector.page_source_provider
            sent = pickle.dumps((provider, query.session, splits, scan.table, columns, TupleDomain.all()))
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
            done = subprocess.run(
                [sys.executable, "-c", _TASK],
                input=sent,
                capture_output=True,
                env=environment,
                check=False,
                timeout=300,
            )
        assert done.returncode == 0, done.stderr.decode()
        roots, _, stream = done.stdout.partition(b"\n")
        assert not self.barred_in_tasks & set(json.loads(roots))
        with pa.ipc.open_stream(stream) as reader:
            assert_same_rows(reader.read_all(), _ROWS)

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
