"""Tables that are made with their rows, and rows of whole partitions that go: all or nothing, at the commit."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from connector_spi.errors import ConnectorError, SchemaNotFoundError
from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import TableDefinition
from connector_spi.optional.writing import SupportsDelete
from connector_spi.predicate import Domain, TupleDomain
from connector_spi.schema import ColumnMetadata
from connector_spi.serializable import from_json, to_json
from connector_spi.testing.base import SCHEMA, ConformanceBase, assert_same_rows
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.reading import read_table
from connector_spi.testing.sample_data import TYPED_COLUMNS, column_table
from connector_spi.testing.writing import ReferenceTable, create_table_as, delete_rows, insert_rows

__all__ = ["CreatingChecks"]

_ROWS = pa.table({"id": pa.array([3, 4], pa.int64()), "name": pa.array(["c", None])})
_MORE = pa.table({"id": pa.array([5], pa.int64()), "name": pa.array(["e"])})
_PARTS = pa.table({"id": pa.array(range(6), pa.int64()), "part": ["a", "b", "c"] * 2})
_NEW = SchemaTableName(SCHEMA, "made")


class CreatingChecks(ConformanceBase):
    """``CREATE TABLE AS``, and ``DELETE`` of partitions."""

    @pytest.mark.parametrize("behaviour", list(TYPED_COLUMNS), ids=[item.name for item in TYPED_COLUMNS])
    def test_a_new_table_has_values_and_nulls_of_a_type(self, behaviour: Behaviour) -> None:
        self.require(Behaviour.CREATE_TABLE_AS, behaviour)
        data = column_table(behaviour, self.missing_behaviours)
        self.made(_ROWS)
        if behaviour in self.refused_in_inserts:
            # A new table may have another type for it, which takes rows.
            pytest.skip(f"the connector adds no rows to tables with {behaviour.value}")
        self._create(_NEW, [data])
        assert_same_rows(read_table(self.connector, _NEW), data)

    def test_a_new_table_is_there_after_the_commit_and_not_before(self) -> None:
        self.require(Behaviour.CREATE_TABLE_AS)
        self.made(_ROWS)
        with self.query() as query:
            making = ReferenceTable(query, self._definition(_NEW, _ROWS.schema))
            fragments = [making.write(_ROWS), making.write(_MORE)]
            assert not self._is_there()
            making.finish(fragments)
            assert not self._is_there()
        assert_same_rows(read_table(self.connector, _NEW), pa.concat_tables([_ROWS, _MORE]))
        insert_rows(self.connector, _NEW, [_MORE])
        assert_same_rows(read_table(self.connector, _NEW), pa.concat_tables([_ROWS, _MORE, _MORE]))

    def test_a_new_table_may_have_partitions_or_no_rows(self) -> None:
        self.require(Behaviour.CREATE_TABLE_AS, Behaviour.PARTITIONED_TABLES)
        self.made(_ROWS)
        self._create(_NEW, [_PARTS.slice(0, 2), _PARTS.slice(2)], ["part"])
        assert_same_rows(read_table(self.connector, _NEW).select(["id", "part"]), _PARTS)
        empty = SchemaTableName(SCHEMA, "empty")
        self._create(empty, [_PARTS.slice(0, 0)], ["part"])
        assert_same_rows(read_table(self.connector, empty).select(["id", "part"]), _PARTS.slice(0, 0))

    @pytest.mark.parametrize("finished", [False, True], ids=["aborted", "finished"])
    def test_a_rollback_leaves_no_table(self, finished: bool) -> None:
        self.require(Behaviour.CREATE_TABLE_AS)
        self.made(_ROWS)
        query = self.query()
        making = ReferenceTable(query, self._definition(_NEW, _ROWS.schema))
        fragments = [making.write(_ROWS)]
        if finished:
            making.finish(fragments)
        else:
            making.abort()
        query.transaction.rollback()
        assert not self._is_there()
        self._create(_NEW, [_MORE])
        assert_same_rows(read_table(self.connector, _NEW), _MORE)

    def test_one_that_was_killed_is_in_no_one_s_way(self) -> None:
        self.require(Behaviour.CREATE_TABLE_AS)
        self.made(_ROWS)
        killed = self.query()
        ReferenceTable(killed, self._definition(_NEW, _ROWS.schema)).write(_ROWS)
        self._create(_NEW, [_MORE])
        assert_same_rows(read_table(self.connector, _NEW), _MORE)
        killed.transaction.rollback()
        assert_same_rows(read_table(self.connector, _NEW), _MORE)

    def test_a_name_that_is_taken_is_refused_early_or_at_the_commit(self) -> None:
        self.require(Behaviour.CREATE_TABLE_AS)
        name = self.made(_ROWS)
        with pytest.raises(ConnectorError, match=name.table):
            self._create(name, [_MORE])
        query = self.query()
        making = ReferenceTable(query, self._definition(_NEW, _ROWS.schema))
        making.finish([making.write(_ROWS)])
        self._create(_NEW, [_MORE])
        with pytest.raises(ConnectorError, match=_NEW.table):
            query.transaction.commit()
        assert_same_rows(read_table(self.connector, name), _ROWS)
        assert_same_rows(read_table(self.connector, _NEW), _MORE)

    def test_a_new_table_needs_its_schema(self) -> None:
        self.require(Behaviour.CREATE_TABLE_AS)
        with pytest.raises(SchemaNotFoundError):
            self._create(SchemaTableName("no_such_schema", "t"), [_ROWS])

    def test_what_a_new_table_hands_over_is_plain(self) -> None:
        self.require(Behaviour.CREATE_TABLE_AS)
        self.made(_ROWS)
        query = self.query()
        making = ReferenceTable(query, self._definition(_NEW, _ROWS.schema))
        for value in (making.handle, *making.write(_ROWS)):
            assert from_json(to_json(value), type(value)) == value
            text = json.dumps(to_json(value))
            assert SCHEMA in text or value is not making.handle, f"the handle does not say the table: {text:.200}"
        making.abort()
        query.transaction.rollback()

    @pytest.mark.parametrize("deleted", [["a"], ["b", "c"], ["none"], ["a", "b", "c"]], ids=str)
    def test_rows_of_whole_partitions_are_deleted(self, deleted: list[str]) -> None:
        self.require(Behaviour.DELETE, Behaviour.PARTITIONED_TABLES)
        name = self.made(_PARTS, ["part"])
        domain = Domain.multiple_values(pa.string(), deleted)
        delete_rows(self.connector, name, TupleDomain.with_column_domains({"part": domain}))
        expected = _PARTS.filter(pc.invert(pc.is_in(_PARTS["part"], pa.array(deleted))))
        assert_same_rows(read_table(self.connector, name).select(["id", "part"]), expected)

    def test_all_rows_are_deleted_at_the_commit_or_none(self) -> None:
        self.require(Behaviour.DELETE)
        name = self.made(_ROWS)
        for is_committed in (False, True):
            query = self.query()
            assert isinstance(query.metadata, SupportsDelete)
            query.metadata.apply_delete(query.session, query.table(name).table, TupleDomain.all())
            assert_same_rows(read_table(self.connector, name), _ROWS)
            if is_committed:
                query.transaction.commit()
            else:
                query.transaction.rollback()
        assert_same_rows(read_table(self.connector, name), _ROWS.slice(0, 0))
        insert_rows(self.connector, name, [_MORE])
        assert_same_rows(read_table(self.connector, name), _MORE)

    def _create(self, name: SchemaTableName, tables: list[pa.Table], partitioned_by: Sequence[str] = ()) -> None:
        create_table_as(self.connector, self._definition(name, tables[0].schema, partitioned_by), tables)

    def _definition(
        self, name: SchemaTableName, schema: pa.Schema, partitioned_by: Sequence[str] = ()
    ) -> TableDefinition:
        columns = tuple(ColumnMetadata(field.name, field.type) for field in schema)
        return TableDefinition(name, columns, tuple(partitioned_by), provider=self.new_table_provider)

    def _is_there(self) -> bool:
        with self.query() as query:
            listed = _NEW in query.metadata.list_tables(query.session, SCHEMA)
            assert listed == (query.metadata.get_table_handle(query.session, _NEW) is not None)
            return listed
