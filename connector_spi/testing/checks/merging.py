"""Rows that are deleted, replaced and added by one statement: all of it or nothing, and no update lost."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from connector_spi.errors import ConnectorError
from connector_spi.names import SchemaTableName
from connector_spi.optional.writing import MergeCommand
from connector_spi.serializable import from_json, to_json
from connector_spi.testing.base import SCHEMA, ConformanceBase, assert_same_rows
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.merging import ReferenceMerge
from connector_spi.testing.reading import ReferenceQuery, read_table
from connector_spi.testing.writing import insert_rows

__all__ = ["MergingChecks"]

_ROWS = pa.table({"id": pa.array([1, 2, 3, 4], pa.int64()), "name": ["a", "b", None, "d"]})
_NEW = pa.table({"id": pa.array([20, 5], pa.int64()), "name": [None, "e"]})
_MORE = pa.table({"id": pa.array([9], pa.int64()), "name": ["more"]})


def _found(query: ReferenceQuery, merge: ReferenceMerge, name: SchemaTableName, *ids: int) -> pa.Table:
    """Row ids of the rows with these numbers."""
    columns = query.table(name).project_names(["id", *merge.row_ids]).read()
    return columns.filter(pc.is_in(columns.column("id"), pa.array(ids, pa.int64()))).select(list(merge.row_ids))


def _replace_first(query: ReferenceQuery, name: SchemaTableName) -> None:
    with query:
        merge = ReferenceMerge(query, name)
        merge.finish([merge.write(_found(query, merge, name, 1), _MORE)])


class MergingChecks(ConformanceBase):
    """``SupportsMerge``: row ids, and what becomes of the rows that they name."""

    def test_row_ids_are_hidden_columns_that_name_one_row_each(self) -> None:
        self.require(Behaviour.MERGE)
        name = self.made(_ROWS)
        insert_rows(self.connector, name, [_MORE])
        with self.query() as query:
            merge = ReferenceMerge(query, name)
            columns = query.metadata.get_table_metadata(query.session, query.table(name).table).columns
            assert merge.row_ids
            assert set(merge.row_ids) <= {column.name for column in columns if column.hidden}
            found = _found(query, merge, name, 1, 2, 3, 4, 9)
            assert all(found.column(column).null_count == 0 for column in merge.row_ids)
            assert len({json.dumps(row, default=str) for row in found.to_pylist()}) == found.num_rows == 5
            merge.abort()

    @pytest.mark.parametrize("ids", [(), (1,), (2, 3), (1, 2, 3, 4)], ids=str)
    def test_deleted_rows_are_gone_at_the_commit(self, ids: tuple[int, ...]) -> None:
        self.require(Behaviour.MERGE)
        name = self.made(_ROWS)
        with self.query() as query:
            merge = ReferenceMerge(query, name, MergeCommand.DELETE)
            merge.finish([merge.write(_found(query, merge, name, *ids))])
            assert_same_rows(read_table(self.connector, name), _ROWS)
        left = _ROWS.filter(pc.invert(pc.is_in(_ROWS.column("id"), pa.array(ids, pa.int64()))))
        assert_same_rows(read_table(self.connector, name), left)

    def test_rows_of_several_sinks_are_replaced_and_added(self) -> None:
        self.require(Behaviour.MERGE)
        name = self.made(_ROWS)
        with self.query() as query:
            merge = ReferenceMerge(query, name)
            fragments = [
                merge.write(_found(query, merge, name, 2), _NEW),
                merge.write(_found(query, merge, name, 1, 4)),
                merge.write(None, _MORE),
            ]
            merge.finish(fragments)
        wanted = pa.concat_tables([_ROWS.slice(2, 1), _NEW, _MORE])
        assert_same_rows(read_table(self.connector, name), wanted)
        with self.query() as query:
            merge = ReferenceMerge(query, name, MergeCommand.UPDATE)
            merge.finish([merge.write(_found(query, merge, name, 3, 5, 9), _ROWS.slice(0, 1))])
        assert_same_rows(read_table(self.connector, name), pa.concat_tables([_NEW.slice(0, 1), _ROWS.slice(0, 1)]))

    def test_rows_move_from_partition_to_partition(self) -> None:
        self.require(Behaviour.MERGE, Behaviour.PARTITIONED_TABLES)
        rows = pa.table({"id": pa.array(range(4), pa.int64()), "part": ["a", "b", "a", "c"]})
        name = self.made(rows, ["part"])
        moved = pa.table({"id": pa.array([0, 3], pa.int64()), "part": ["c", "new"]})
        with self.query() as query:
            merge = ReferenceMerge(query, name, MergeCommand.UPDATE)
            merge.finish([merge.write(_found(query, merge, name, 0, 3), moved)])
        assert_same_rows(read_table(self.connector, name), pa.concat_tables([rows.slice(1, 2), moved]))

    @pytest.mark.parametrize("finished", [False, True], ids=["aborted", "finished"])
    def test_a_rollback_leaves_all_rows(self, finished: bool) -> None:
        self.require(Behaviour.MERGE)
        name = self.made(_ROWS)
        query = self.query()
        merge = ReferenceMerge(query, name)
        fragments = [merge.write(_found(query, merge, name, 1, 2), _NEW)]
        if finished:
            merge.finish(fragments)
        else:
            merge.abort()
        query.transaction.rollback()
        assert_same_rows(read_table(self.connector, name), _ROWS)

    def test_no_update_is_lost(self) -> None:
        """Who has read a row before another one changed it fails, and nothing of it is seen.

        Of two that have both begun, one may also wait for the other: that is not tried here.
        """
        self.require(Behaviour.MERGE)
        name = self.made(_ROWS)
        second = self.query()
        second.table(name)  # the handle of its snapshot
        with self.query() as first:
            merge = ReferenceMerge(first, name)
            merge.finish([merge.write(_found(first, merge, name, 1), _NEW)])
        with pytest.raises(ConnectorError):
            _replace_first(second, name)
        assert_same_rows(read_table(self.connector, name), pa.concat_tables([_ROWS.slice(1), _NEW]))

    def test_what_travels_is_plain_data(self) -> None:
        self.require(Behaviour.MERGE)
        name = self.made(_ROWS)
        with self.query() as query:
            merge = ReferenceMerge(query, name)
            for value in (merge.handle, *merge.write(_found(query, merge, name, 1), _NEW)):
                assert from_json(to_json(value), type(value)) == value
                text = json.dumps(to_json(value))
                assert SCHEMA in text or value is not merge.handle, f"the handle does not say the table: {text:.200}"
            merge.abort()
