"""Rows that are added: all of them or none, visible when the transaction commits."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from connector_spi.errors import NotSupportedError
from connector_spi.optional.streaming import StreamEpoch
from connector_spi.optional.writing import Overwrite
from connector_spi.predicate import Domain, TupleDomain
from connector_spi.serializable import from_json, to_json
from connector_spi.testing.base import SCHEMA, ConformanceBase, assert_same_rows
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.reading import read_table
from connector_spi.testing.sample_data import TYPED_COLUMNS, column_table, mixed_table
from connector_spi.testing.writing import ReferenceInsert, insert_rows, overwrite_rows

__all__ = ["WritingChecks"]

_BEFORE = pa.table({"id": pa.array([1, 2], pa.int64()), "name": pa.array(["a", "b"])})
_ADDED = pa.table({"id": pa.array([3, 4], pa.int64()), "name": pa.array(["c", None])})
_MORE = pa.table({"id": pa.array([5], pa.int64()), "name": pa.array(["e"])})


def _of_parts(*parts: str) -> TupleDomain[str]:
    """The rows whose key ``part`` is one of these."""
    return TupleDomain.with_column_domains({"part": Domain.multiple_values(pa.string(), parts)})


class WritingChecks(ConformanceBase):
    """Inserts through sinks, as tasks have them."""

    @pytest.mark.parametrize("behaviour", list(TYPED_COLUMNS), ids=[item.name for item in TYPED_COLUMNS])
    def test_inserted_values_and_nulls_of_a_type_come_back(self, behaviour: Behaviour) -> None:
        self.require(Behaviour.INSERT, behaviour)
        data = column_table(behaviour, self.missing_behaviours)
        name = self.made(data)
        if behaviour in self.refused_in_inserts:
            with pytest.raises(NotSupportedError):
                insert_rows(self.connector, name, [data])
            return
        insert_rows(self.connector, name, [data])
        assert_same_rows(read_table(self.connector, name), pa.concat_tables([data, data]))

    def test_rows_of_several_sinks_all_come(self) -> None:
        self.require(Behaviour.INSERT)
        name = self.made(_BEFORE)
        insert_rows(self.connector, name, [_ADDED, _MORE])
        insert_rows(self.connector, name, [_MORE])
        assert_same_rows(read_table(self.connector, name), pa.concat_tables([_BEFORE, _ADDED, _MORE, _MORE]))

    def test_many_batches_of_one_sink_all_come(self) -> None:
        self.require(Behaviour.INSERT)
        name = self.made(_BEFORE)
        many = pa.table({"id": pa.array(range(10, 20_010), pa.int64()), "name": pa.array(["x"] * 20_000)})
        insert_rows(self.connector, name, [many])
        assert_same_rows(read_table(self.connector, name), pa.concat_tables([_BEFORE, many]))

    def test_inserted_rows_go_to_their_partitions(self) -> None:
        self.require(Behaviour.INSERT, Behaviour.PARTITIONED_TABLES)
        rows = mixed_table(self.missing_behaviours | self.refused_in_inserts)
        name = self.made(rows.slice(0, 8), ["part"])
        with self.query() as query:
            columns = [
                column.name
                for column in query.metadata.get_table_metadata(
                    query.session, query.table(name).table
                ).visible_columns()
            ]
        insert_rows(self.connector, name, [rows.slice(8, 5).select(columns), rows.slice(13).select(columns)])
        assert_same_rows(read_table(self.connector, name).select(rows.column_names), rows)

    def test_an_insert_of_no_rows_changes_nothing(self) -> None:
        self.require(Behaviour.INSERT)
        name = self.made(_BEFORE)
        insert_rows(self.connector, name, [])
        insert_rows(self.connector, name, [_ADDED.slice(0, 0)])
        assert_same_rows(read_table(self.connector, name), _BEFORE)

    def test_inserted_rows_are_seen_after_the_commit_and_not_before(self) -> None:
        self.require(Behaviour.INSERT)
        name = self.made(_BEFORE)
        with self.query() as query:
            insert = ReferenceInsert(query, name)
            fragments = [insert.write(_ADDED)]
            assert_same_rows(read_table(self.connector, name), _BEFORE)
            insert.finish(fragments)
            assert_same_rows(read_table(self.connector, name), _BEFORE)
        assert_same_rows(read_table(self.connector, name), pa.concat_tables([_BEFORE, _ADDED]))

    @pytest.mark.parametrize("finished", [False, True], ids=["aborted", "finished"])
    def test_a_rollback_leaves_nothing_of_an_insert(self, finished: bool) -> None:
        self.require(Behaviour.INSERT)
        name = self.made(_BEFORE)
        query = self.query()
        insert = ReferenceInsert(query, name)
        fragments = [insert.write(_ADDED)]
        if finished:
            insert.finish(fragments)
        else:
            insert.abort()
        query.transaction.rollback()
        assert_same_rows(read_table(self.connector, name), _BEFORE)
        insert_rows(self.connector, name, [_MORE])
        assert_same_rows(read_table(self.connector, name), pa.concat_tables([_BEFORE, _MORE]))

    def test_a_task_that_was_tried_twice_adds_its_rows_once(self) -> None:
        """Neither an aborted sink, nor one that was killed, nor one whose fragments no one took adds rows."""
        self.require(Behaviour.INSERT)
        name = self.made(_BEFORE)
        with self.query() as query:
            insert = ReferenceInsert(query, name)
            aborted, killed = insert.sink(0), insert.sink(0)
            aborted.append(_ADDED.to_batches()[0])
            killed.append(_ADDED.to_batches()[0])
            aborted.abort()
            insert.write(_ADDED, 0)
            insert.finish([insert.write(_ADDED, 0), insert.write(_MORE, 1)])
        assert_same_rows(read_table(self.connector, name), pa.concat_tables([_BEFORE, _ADDED, _MORE]))

    def test_two_writers_at_once_both_add_their_rows(self) -> None:
        self.require(Behaviour.INSERT)
        name = self.made(_BEFORE)
        with self.query() as one, self.query() as other:
            first, second = ReferenceInsert(one, name), ReferenceInsert(other, name)
            written = second.write(_MORE)
            first.finish([first.write(_ADDED)])
            second.finish([written])
        assert_same_rows(read_table(self.connector, name), pa.concat_tables([_BEFORE, _ADDED, _MORE]))

    def test_several_inserts_of_one_transaction_all_come(self) -> None:
        self.require(Behaviour.INSERT)
        self.require(Behaviour.SEVERAL_INSERTS)
        name, other = self.made(_BEFORE), self.made(_BEFORE, table="u")
        with self.query() as query:
            for table, rows in ((name, _ADDED), (other, _ADDED), (name, _MORE)):
                insert = ReferenceInsert(query, table)
                insert.finish([insert.write(rows)])
        assert_same_rows(read_table(self.connector, name), pa.concat_tables([_BEFORE, _ADDED, _MORE]))
        assert_same_rows(read_table(self.connector, other), pa.concat_tables([_BEFORE, _ADDED]))

    def test_each_batch_of_a_streaming_query_comes_once(self) -> None:
        """Whether it was committed or given up before, and only for its own query."""
        self.require(Behaviour.INSERT, Behaviour.STREAMING_INSERT)
        name = self.made(_BEFORE)
        steps = [
            (StreamEpoch("q-1", 0), _ADDED, False, True),
            (StreamEpoch("q-1", 0), _ADDED, True, True),
            (StreamEpoch("q-1", 0), _MORE, True, False),
            (StreamEpoch("q-1", 1), _MORE, True, True),
            (StreamEpoch("q-1", 0), _ADDED, True, False),
            (StreamEpoch("q-2", 0), _ADDED, True, True),
            (StreamEpoch("q-1", 1), _ADDED, True, False),
        ]
        for epoch, rows, is_committed, is_new in steps:
            query = self.query()
            insert = ReferenceInsert(query, name)
            assert insert.finish_epoch([insert.write(rows)], epoch) is is_new
            if is_committed:
                query.transaction.commit()
            else:
                query.transaction.rollback()
        expected = pa.concat_tables([_BEFORE, _ADDED, _MORE, _ADDED])
        assert_same_rows(read_table(self.connector, name), expected)

    def test_what_an_insert_hands_over_is_plain(self) -> None:
        self.require(Behaviour.INSERT)
        name = self.made(_BEFORE)
        with self.query() as query:
            insert = ReferenceInsert(query, name)
            fragments = insert.write(_ADDED)
            for value in (insert.handle, *fragments):
                assert from_json(to_json(value), type(value)) == value
                text = json.dumps(to_json(value))
                assert SCHEMA in text or value is not insert.handle, f"the handle does not say the table: {text:.200}"
            insert.abort()

    def test_all_rows_are_replaced_at_the_commit(self) -> None:
        self.require(Behaviour.OVERWRITE)
        name = self.made(_BEFORE)
        with self.query() as query:
            insert = ReferenceInsert(query, name, Overwrite())
            insert.finish([insert.write(_ADDED), insert.write(_MORE)])
            assert_same_rows(read_table(self.connector, name), _BEFORE)
        assert_same_rows(read_table(self.connector, name), pa.concat_tables([_ADDED, _MORE]))
        overwrite_rows(self.connector, name, [_MORE])
        insert_rows(self.connector, name, [_ADDED])
        assert_same_rows(read_table(self.connector, name), pa.concat_tables([_ADDED, _MORE]))

    def test_an_overwrite_with_no_rows_empties_the_table(self) -> None:
        self.require(Behaviour.OVERWRITE)
        name = self.made(_BEFORE)
        overwrite_rows(self.connector, name, [])
        assert_same_rows(read_table(self.connector, name), _BEFORE.slice(0, 0))
        insert_rows(self.connector, name, [_ADDED])
        assert_same_rows(read_table(self.connector, name), _ADDED)

    @pytest.mark.parametrize("finished", [False, True], ids=["aborted", "finished"])
    def test_a_rollback_leaves_the_rows_that_were_to_be_replaced(self, finished: bool) -> None:
        self.require(Behaviour.OVERWRITE)
        name = self.made(_BEFORE)
        query = self.query()
        insert = ReferenceInsert(query, name, Overwrite())
        fragments = [insert.write(_ADDED)]
        if finished:
            insert.finish(fragments)
        else:
            insert.abort()
        query.transaction.rollback()
        assert_same_rows(read_table(self.connector, name), _BEFORE)
        overwrite_rows(self.connector, name, [_MORE])
        assert_same_rows(read_table(self.connector, name), _MORE)

    @pytest.mark.parametrize(
        ("overwrite", "kept"),
        [
            (Overwrite(), []),
            (Overwrite(_of_parts("a")), ["b", "c"]),
            (Overwrite(_of_parts("b", "c")), ["a"]),
            (Overwrite(_of_parts("none")), ["a", "b", "c"]),
            (Overwrite(dynamic=True), ["b", "c"]),
            (Overwrite(TupleDomain.none()), ["a", "b", "c"]),
        ],
        ids=["all", "one", "two", "absent", "dynamic", "nothing"],
    )
    def test_an_overwrite_leaves_the_other_partitions_alone(self, overwrite: Overwrite, kept: list[str]) -> None:
        self.require(Behaviour.OVERWRITE, Behaviour.PARTITIONED_TABLES)
        before = pa.table({"id": pa.array(range(6), pa.int64()), "part": ["a", "b", "c"] * 2})
        rows = pa.table({"id": pa.array([10, 11], pa.int64()), "part": ["a", "new"]})
        name = self.made(before, ["part"])
        overwrite_rows(self.connector, name, [rows], overwrite)
        expected = pa.concat_tables([before.filter(pc.is_in(before["part"], pa.array(kept, pa.string()))), rows])
        assert_same_rows(read_table(self.connector, name).select(["id", "part"]), expected)

    def test_partitions_that_are_replaced_by_no_rows_are_empty(self) -> None:
        self.require(Behaviour.OVERWRITE, Behaviour.PARTITIONED_TABLES)
        before = pa.table({"id": pa.array(range(6), pa.int64()), "part": ["a", "b", "c"] * 2})
        name = self.made(before, ["part"])
        overwrite_rows(self.connector, name, [], Overwrite(_of_parts("a", "c")))
        overwrite_rows(self.connector, name, [], Overwrite(dynamic=True))
        expected = before.filter(pc.equal(before["part"], "b"))
        assert_same_rows(read_table(self.connector, name).select(["id", "part"]), expected)
