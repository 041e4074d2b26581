"""Names, columns, system tables and procedures."""

from __future__ import annotations

import re
from itertools import zip_longest

import pyarrow as pa

from connector_spi.errors import ConnectorError
from connector_spi.metadata import SupportsLimit, SupportsPartitionListing, SupportsStatistics, SupportsTimeTravel
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.optional.aggregation import SupportsAggregation
from connector_spi.optional.changes import SupportsChanges
from connector_spi.optional.creating import SupportsCreateTableAs
from connector_spi.optional.listing import SupportsTableListing
from connector_spi.optional.procedures import Procedure
from connector_spi.optional.streaming import SupportsStreaming, SupportsStreamingInsert
from connector_spi.optional.top_n import SupportsTopN
from connector_spi.optional.writing import SupportsDelete, SupportsInsert, SupportsMerge, SupportsOverwrite
from connector_spi.predicate import TupleDomain, Value
from connector_spi.schema import TableMetadata
from connector_spi.testing.base import SCHEMA, ConformanceBase
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.reading import read_table
from connector_spi.testing.sample_data import mixed_table

__all__ = ["MetadataChecks"]

_ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "name": pa.array(["a", None])})
_PROTOCOLS = {
    Behaviour.AGGREGATION: SupportsAggregation,
    Behaviour.CHANGES: SupportsChanges,
    Behaviour.CREATE_TABLE_AS: SupportsCreateTableAs,
    Behaviour.DELETE: SupportsDelete,
    Behaviour.INSERT: SupportsInsert,
    Behaviour.OVERWRITE: SupportsOverwrite,
    Behaviour.LIMIT: SupportsLimit,
    Behaviour.MERGE: SupportsMerge,
    Behaviour.PARTITION_LISTING: SupportsPartitionListing,
    Behaviour.STATISTICS: SupportsStatistics,
    Behaviour.STREAMING: SupportsStreaming,
    Behaviour.STREAMING_INSERT: SupportsStreamingInsert,
    Behaviour.TIME_TRAVEL: SupportsTimeTravel,
    Behaviour.TOP_N: SupportsTopN,
}


class MetadataChecks(ConformanceBase):
    """Listing, metadata, system tables, procedures, properties."""

    def test_schemas_are_listed_sorted_and_in_lower_case(self) -> None:
        self.made(_ROWS)
        if self.has(Behaviour.SEVERAL_SCHEMAS):
            self.create_table(SchemaTableName("a_schema", "t"), _ROWS, ())
        with self.query() as query:
            schemas = list(query.metadata.list_schema_names(query.session))
            assert schemas == sorted(schemas) == [schema.lower() for schema in schemas]
            assert len(set(schemas)) == len(schemas)
            assert all(query.metadata.schema_exists(query.session, schema) for schema in schemas)
        assert SCHEMA in schemas
        if self.has(Behaviour.SEVERAL_SCHEMAS):
            assert "a_schema" in schemas

    def test_many_tables_are_described_as_each_is(self) -> None:
        names = [self.made(_ROWS, table=table) for table in ("b", "a")]
        with self.query() as query:
            if not isinstance(query.metadata, SupportsTableListing):
                return
            asked = [*(name.table for name in names), "no_such_table"]
            listed = {one.name: one for one in query.metadata.list_table_metadata(query.session, SCHEMA, asked)}
            assert set(listed) <= set(names)
            for name, found in listed.items():
                table = query.metadata.get_table_handle(query.session, name)
                assert table is not None, f"{name} is listed and not there"
                assert found == query.metadata.get_table_metadata(query.session, table)

    def test_tables_are_listed_sorted_with_their_schema(self) -> None:
        names = [self.made(_ROWS, table=table) for table in ("b", "a", "c_2")]
        with self.query() as query:
            listed = list(query.metadata.list_tables(query.session, SCHEMA))
        assert [name.table for name in listed] == sorted(name.table for name in listed)
        assert set(names) <= set(listed)
        assert {name.schema for name in listed} == {SCHEMA}

    def test_what_is_not_there_is_none(self) -> None:
        name = self.made(_ROWS)
        with self.query() as query:
            metadata, session = query.metadata, query.session
            assert not metadata.schema_exists(session, "no_such_schema")
            assert list(metadata.list_tables(session, "no_such_schema")) == []
            assert metadata.get_table_handle(session, SchemaTableName(SCHEMA, "no_such_table")) is None
            assert metadata.get_table_handle(session, SchemaTableName("no_such_schema", name.table)) is None
            assert metadata.get_system_table(session, SystemTableName(name, "no_such_kind")) is None

    def test_metadata_says_name_columns_and_types_in_order(self) -> None:
        data = mixed_table(self.missing_behaviours)
        name = self.made(data)
        with self.query() as query:
            table = query.metadata.get_table_metadata(query.session, query.table(name).table)
        assert table.name == name
        assert table.partitioned_by == ()
        met = {column.name: column.type for column in table.visible_columns()}
        assert list(met) == data.column_names, "the columns are others, or in another order"
        for field in data.schema:
            found = met[field.name]
            assert found == field.type, f"column '{field.name}' has the type {found}, expected {field.type}"

    def test_columns_that_are_not_nullable_hold_no_null(self) -> None:
        name = self.made(mixed_table(self.missing_behaviours))
        with self.query() as query:
            scan = query.table(name)
            columns = query.metadata.get_table_metadata(query.session, scan.table).columns
            rows = scan.project_names([column.name for column in columns]).read()
        wrong = [one.name for one in columns if not one.nullable and rows.column(one.name).null_count]
        assert wrong == [], f"columns {wrong} say nullable=False, and hold NULL"

    def test_partition_keys_are_columns(self) -> None:
        self.require(Behaviour.PARTITIONED_TABLES)
        data = mixed_table(self.missing_behaviours)
        name = self.made(data, ("part",))
        with self.query() as query:
            table = query.metadata.get_table_metadata(query.session, query.table(name).table)
        visible = [column.name for column in table.visible_columns()]
        assert table.partitioned_by == ("part",)
        assert sorted(visible) == sorted(data.column_names)
        assert [column for column in visible if column != "part"] == [
            column for column in data.column_names if column != "part"
        ]

    def test_column_handles_are_those_of_the_metadata(self) -> None:
        name = self.made(_ROWS)
        with self.query() as query:
            scan = query.table(name)
            table = query.metadata.get_table_metadata(query.session, scan.table)
        names = [column.name for column in table.columns]
        assert list(scan.handles) == names
        assert len(set(names)) == len(names)
        assert [(handle.name, handle.type) for handle in scan.handles.values()] == [
            (column.name, column.type) for column in table.columns
        ]

    def test_hidden_columns_come_last_and_can_be_read(self) -> None:
        self.require(Behaviour.HIDDEN_COLUMNS)
        name = self.made(_ROWS)
        with self.query() as query:
            columns = query.metadata.get_table_metadata(query.session, query.table(name).table).columns
        hidden = [column.name for column in columns if column.hidden]
        assert hidden
        assert [column.name for column in columns][-len(hidden) :] == hidden
        assert not set(hidden) & set(read_table(self.connector, name).column_names)
        read = read_table(self.connector, name, [*hidden, "id"])
        assert read.column_names == [*hidden, "id"]
        assert sorted(read.column("id").to_pylist()) == [1, 2]

    def test_abilities_are_claimed_as_they_are_listed(self) -> None:
        with self.query() as query:
            claimed = {behaviour: isinstance(query.metadata, proto) for behaviour, proto in _PROTOCOLS.items()}
        assert claimed == {behaviour: self.has(behaviour) for behaviour in _PROTOCOLS}

    def test_system_tables_have_the_rows_that_their_metadata_says(self) -> None:
        self.require(Behaviour.SYSTEM_TABLES)
        partitioned_by = ("part",) if self.has(Behaviour.PARTITIONED_TABLES) else ()
        name = self.made(mixed_table(self.missing_behaviours), partitioned_by)
        missing = SchemaTableName(SCHEMA, "no_such_table")
        with self.query() as query:
            kinds = list(query.metadata.list_system_table_kinds())
            assert kinds
            assert kinds == sorted(set(kinds))
            for kind in kinds:
                assert query.metadata.get_system_table(query.session, SystemTableName(missing, kind)) is None
                found = query.metadata.get_system_table(query.session, SystemTableName(name, kind))
                assert found is not None, kind
                assert found.metadata.name == SchemaTableName(SCHEMA, f"{name.table}${kind}")
                batches = list(found.read(query.session, TupleDomain.all()))
                for batch in batches:
                    _check_schema(f"system table {found.metadata.name}", batch.schema, found.metadata)
                    _check_nulls(f"system table {found.metadata.name}", batch, found.metadata)
                if kind not in self.empty_system_tables:
                    count = sum(batch.num_rows for batch in batches)
                    assert count, f"{found.metadata.name} has no rows; if that is right, empty_system_tables has {kind}"

    def test_procedures_are_described(self) -> None:
        self.require(Behaviour.PROCEDURES)
        procedures = self.connector.procedures
        assert procedures
        assert len({(procedure.schema, procedure.name) for procedure in procedures}) == len(procedures)
        for procedure in procedures:
            assert _is_lower_identifier(procedure.name), procedure.name
            assert procedure.description.endswith("."), procedure.name
            required = [argument.required for argument in procedure.arguments]
            assert required == sorted(required, reverse=True), f"{procedure.name}: required arguments come first"
            for argument in procedure.arguments:
                assert _is_lower_identifier(argument.name), argument.name
                assert argument.description.endswith("."), f"{procedure.name}.{argument.name}"
                assert argument.default is None or not argument.required, f"{procedure.name}.{argument.name}"

    def test_procedures_give_what_they_are_described_to(self) -> None:
        self.require(Behaviour.PROCEDURES)
        called = []
        for number, procedure in enumerate(self.connector.procedures):
            name = self.made(_ROWS, table=f"called_{number}")
            given = self.procedure_arguments(procedure.name, name)
            if given is None:
                continue
            called.append(procedure.name)
            with self.query() as query:
                arguments = {one.name: given.get(one.name, one.default) for one in procedure.arguments}
                strange = given.keys() - arguments.keys()
                assert not strange, f"{procedure.name} has no arguments {sorted(strange)}"
                result = procedure.function(query.session, arguments)
            met, expected = dict(_columns(result.schema)), dict(_columns(procedure.result))
            assert list(met.items()) == list(expected.items()), f"procedure {procedure.name} gave {met}, not {expected}"
        assert called, "procedure_arguments gives arguments for none of the procedures"

    def test_procedures_refuse_what_is_not_there(self) -> None:
        self.require(Behaviour.PROCEDURES)
        self.made(_ROWS)
        for procedure in self.connector.procedures:
            if not any(argument.required for argument in procedure.arguments):
                continue
            nothing: dict[str, Value | None] = {one.name: one.default for one in procedure.arguments}
            with self.query() as query:
                for arguments in (nothing, {**nothing, **_nonsense(procedure)}):
                    try:
                        procedure.function(query.session, arguments)
                    except ConnectorError:
                        continue
                    raise AssertionError(f"procedure {procedure.name} took {arguments}; expected a ConnectorError")

    def test_properties_are_described(self) -> None:
        catalog, session = list(self.factory().config_properties), list(self.connector.session_properties)
        for described in (catalog, session):
            names = [name for prop in described for name in (prop.name, *prop.aliases)]
            assert len(set(names)) == len(names)
            assert all(prop.description.endswith(".") for prop in described)
        assert all(_is_lower_identifier(prop.name) for prop in session)
        assert all(re.fullmatch(r"[a-z][a-z0-9.-]*", prop.name) for prop in catalog)


def _columns(schema: pa.Schema) -> list[tuple[str, pa.DataType]]:
    return list(zip(schema.names, schema.types, strict=True))


def _check_schema(what: str, schema: pa.Schema, expected: TableMetadata) -> None:
    met, wanted = _columns(schema), [(column.name, column.type) for column in expected.columns]
    wrong = [f"met {one}, expected {other}" for one, other in zip_longest(met, wanted) if one != other]
    assert not wrong, f"{what}: {'; '.join(wrong)}"


def _check_nulls(what: str, batch: pa.RecordBatch, expected: TableMetadata) -> None:
    wrong = [one.name for one in expected.columns if not one.nullable and batch.column(one.name).null_count]
    assert not wrong, f"{what}: columns {wrong} say nullable=False, and hold NULL"


def _nonsense(procedure: Procedure) -> dict[str, Value | None]:
    """A value that means nothing for each required argument of texts and numbers."""
    values: dict[pa.DataType, Value] = {pa.string(): "no such thing", pa.int64(): 2**40, pa.int32(): 2**30}
    return {one.name: values.get(one.type) for one in procedure.arguments if one.required}


def _is_lower_identifier(name: str) -> bool:
    return re.fullmatch(r"[a-z][a-z0-9_]*", name) is not None
