"""Random histories of inserts, changes, aborts, compactions and cleaning, against a model that is a dict."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import insert_rows
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.compaction.compacting import call, clean
from tests.connectors.hive.reading import make_connector
from tests.connectors.hive.write.test_acid_inserts import new_table
from tests.connectors.hive.write.test_acid_merges import NAME, change
from tests.sampling import examples

_SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.string()), ("ds", pa.string())])
_KEYS = ("x", "y")
_PICK = st.lists(st.integers(0, 30), min_size=1, max_size=4, unique=True)
_STEPS = st.one_of(
    st.tuples(st.just("insert"), st.lists(st.integers(1, 4), min_size=1, max_size=2)),
    st.tuples(st.just("delete"), _PICK),
    st.tuples(st.just("update"), _PICK),
    st.tuples(st.just("abort"), st.just([])),
    st.tuples(st.sampled_from(["minor", "major"]), st.just([])),
    st.tuples(st.sampled_from(["minor", "major"]), st.just([])),
    st.tuples(st.just("clean"), st.just([])),
)
Step = tuple[str, list[int]]


class History:
    """A table and what should be in it.

    Args:
        hive: A connector over an empty metastore.
        folder: For the table.
        partitioned: It has partitions.
    """

    def __init__(self, hive: HiveConnector, folder: Path, partitioned: bool) -> None:
        self.hive = hive
        self.partitioned = partitioned
        self.model: dict[int, str] = {}
        self.next = 0
        empty = pa.table({name: [] for name in _SCHEMA.names}, _SCHEMA)
        self.directory = new_table(hive, folder, partitioned, {"transactional": "true"}, data=empty)

    def run(self, step: Step) -> None:
        """Does one step to the table and to the model."""
        kind, numbers = step
        if kind == "insert":
            insert_rows(self.hive, NAME, [self._new(count) for count in numbers])
        elif kind in ("delete", "update"):
            chosen = [one for position, one in enumerate(sorted(self.model)) if position in numbers]
            if chosen:
                self._change(chosen, updated=kind == "update")
        elif kind == "abort":
            self._abort()
        elif kind == "clean":
            clean(self.hive)
        else:
            self._compact(kind)

    def check(self) -> None:
        """Compares, also the ids of rows."""
        with ReferenceQuery(self.hive) as query:
            found = query.table(NAME).project_names(["id", "v", "ds", "$row_id"]).read().to_pylist()
        assert len(found) == len(self.model)
        assert {row["id"]: row["v"] for row in found} == self.model
        assert all(row["ds"] == self._key(row["id"]) for row in found)
        assert len({(row["ds"], *row["$row_id"].values()) for row in found}) == len(found)

    def _key(self, number: int) -> str:
        return _KEYS[number % 2]

    def _new(self, count: int) -> pa.Table:
        numbers = list(range(self.next, self.next + count))
        self.next += count
        self.model |= {number: f"v{number}" for number in numbers}
        return self._rows({number: self.model[number] for number in numbers})

    def _rows(self, values: dict[int, str]) -> pa.Table:
        keys = [self._key(number) for number in values]
        return pa.table({"id": list(values), "v": list(values.values()), "ds": keys}, _SCHEMA)

    def _change(self, chosen: list[int], *, updated: bool) -> None:
        new = {number: f"{self.model[number]}+" for number in chosen} if updated else {}
        change(self.hive, tuple(chosen), *([self._rows(new)] if new else []))
        for number in chosen:
            del self.model[number]
        self.model |= new

    def _abort(self) -> None:
        """What a killed writer leaves: a delta whose transaction is aborted."""
        client = self.hive.metastore.transactions
        deltas = [path for path in self.directory.rglob("delta_*") if "_v" not in path.name]
        if not deltas:
            return
        transaction = client.open_transaction("ann", "killed")
        write_id = client.allocate_write_ids([transaction], "s", "t")[transaction]
        shutil.copytree(deltas[0], deltas[0].parent / f"delta_{write_id:07d}_{write_id:07d}_0000")
        client.abort(transaction)

    def _compact(self, kind: str) -> None:
        names = self.hive.metastore.reads.get_partition_names("s", "t") if self.partitioned else [None]
        for name in names:
            given_name = {} if name is None else {"partition": name}
            call(self.hive, "run_compaction", schema_name="s", table_name="t", type=kind, **given_name)


@pytest.mark.parametrize("partitioned", [False, True])
@settings(max_examples=examples(60))
@given(steps=st.lists(_STEPS, min_size=3, max_size=14))
def test_every_reader_sees_the_model(partitioned: bool, steps: list[Step]) -> None:
    _check(partitioned, steps)


@pytest.mark.parametrize("partitioned", [False, True])
def test_a_known_history(partitioned: bool) -> None:
    steps: list[Step] = [
        ("insert", [3, 2]), ("insert", [1]), ("update", [0, 3]), ("minor", []), ("abort", []), ("delete", [1]),
        ("minor", []), ("clean", []), ("insert", [4]), ("major", []), ("update", [0, 1, 2]), ("clean", []),
        ("delete", [0]), ("minor", []), ("major", []), ("clean", []), ("delete", list(range(20))), ("major", []),
        ("clean", []), ("insert", [2]),
    ]  # fmt: skip
    _check(partitioned, steps)


def _check(partitioned: bool, steps: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        hive = make_connector(Path(folder))
        history = History(hive, Path(folder), partitioned)
        for step in steps:
            history.run(step)
            history.check()
        hive.shutdown()
