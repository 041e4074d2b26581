"""Tables whose columns have ids, in states that the corpus lacks; written by ``writer.py``."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.errors import CorruptFileError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Domain, TupleDomain
from connectors.hudi.handles import HudiTableHandle, IndexUse
from connectors.hudi.schema.table_schema import META_COLUMNS
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.corpus import CASES, expected, opened
from tests.connectors.hudi.schema.test_internal_schema import field, version
from tests.connectors.hudi.writer import HudiWriter, avro_schema

META = [field(number, name, "string") for number, name in enumerate(META_COLUMNS)]
FIRST = version([*META, field(5, "id", "long"), field(6, "a", "int"), field(7, "part", "string")], 0)
ARROW = {"long": pa.int64(), "int": pa.int32(), "string": pa.string(), "float": pa.float32()}


@pytest.fixture(params=[6, 9], ids=["layout1", "layout2"])
def writer(request: pytest.FixtureRequest, tmp_path: Path) -> HudiWriter:
    writer = HudiWriter(tmp_path / "table", request.param, ("part",)).create()
    writer.commit({("part=a", "g1"): rows(a=[10, 20])})
    return writer


@pytest.fixture
def catalog(tmp_path: Path) -> HudiCatalog:
    return make_catalog(tmp_path)


def rows(**columns: list[object]) -> pa.Table:
    count = len(next(iter(columns.values())))
    own = {
        name: pa.array(values, pa.int32() if isinstance(values[0], int) else pa.string())
        for name, values in columns.items()
    }
    return pa.table({"id": pa.array(range(count), pa.int64()), **own, "part": pa.array(["a"] * count)})


def alter(writer: HudiWriter, *columns: tuple[int, str, str], history: bool = True) -> dict[str, str]:
    """Commits other columns between ``id`` and ``part``; gives what later writes note."""
    fields = [(5, "id", "long"), *columns, (7, "part", "string")]
    newest = version([*META, *(field(*item) for item in fields)], writer.clock + 1 + 20240101000000000)
    avro = avro_schema(pa.schema([(name, ARROW[kind]) for _, name, kind in fields]))
    noted = {"latest_schema": json.dumps(newest), "schema": avro}
    requested = writer.commit({}, operation="ALTER_SCHEMA", extra=noted)
    if history:
        folder = writer.folder / ".hoodie" / ".schema"
        folder.mkdir(exist_ok=True)
        name = f"{requested}_{requested}" if writer.version >= 8 else requested
        (folder / f"{name}.schemacommit").write_text(json.dumps({"schemas": [newest, FIRST]}))
    return noted


def read(catalog: HudiCatalog, writer: HudiWriter, constraint: TupleDomain[ColumnHandle] | None = None) -> list[object]:
    catalog.register(writer.folder)
    return user_rows(catalog.read(constraint=constraint))


def user_rows(met: pa.Table) -> list[object]:
    return sorted((tuple(row.values()) for row in met.drop_columns(list(META_COLUMNS)).to_pylist()), key=str)


def test_a_name_given_anew_is_null_in_older_files(catalog: HudiCatalog, writer: HudiWriter) -> None:
    noted = alter(writer, (6, "b", "int"), (8, "a", "int"))
    writer.commit({("part=a", "g2"): rows(b=[30], a=[40])}, extra=noted)
    assert read(catalog, writer) == sorted([(0, 10, None, "a"), (1, 20, None, "a"), (0, 30, 40, "a")], key=str)


def test_names_that_changed_places(catalog: HudiCatalog, writer: HudiWriter) -> None:
    alter(writer, (6, "b", "int"), (8, "c", "int"))
    noted = alter(writer, (6, "b", "int"), (8, "a", "int"))
    writer.commit({("part=a", "g1"): rows(b=[1], a=[2])}, extra=noted)
    alter(writer, (8, "b", "int"), (6, "a", "int"))
    assert read(catalog, writer) == [(0, 2, 1, "a")]


def test_a_filter_does_not_prune_by_another_columns_statistics(catalog: HudiCatalog, writer: HudiWriter) -> None:
    """In the old file ``a`` is what now is ``b``, and ``a`` is NULL."""
    alter(writer, (6, "b", "int"), (8, "a", "int"))
    catalog.register(writer.folder)
    # Of the column that the file lacks, every row is given to be checked.
    for name, value, kept in (("b", 20, [20]), ("b", 99, []), ("a", 99, [10, 20])):
        wanted = Domain.single_value(pa.int32(), value)
        constraint = TupleDomain.with_column_domains({ColumnHandle(name, pa.int32()): wanted})
        assert catalog.read(constraint=constraint).column("b").to_pylist() == kept


def test_a_filter_on_an_altered_type_prunes_nothing(catalog: HudiCatalog, writer: HudiWriter) -> None:
    alter(writer, (6, "a", "string"))
    wanted = TupleDomain.with_column_domains({ColumnHandle("a", pa.string()): Domain.single_value(pa.string(), "20")})
    assert read(catalog, writer, wanted) == [(0, "10", "a"), (1, "20", "a")]


def test_only_files_of_the_same_names_and_types_are_read_natively(catalog: HudiCatalog, writer: HudiWriter) -> None:
    noted = alter(writer, (6, "b", "int"), (8, "a", "int"))
    writer.commit({("part=a", "g2"): rows(b=[30], a=[40])}, extra=noted)
    catalog.register(writer.folder)
    with catalog.metadata() as (transaction, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
        assert table is not None
        handles = metadata.get_column_handles(catalog.session, table)

        def native(*names: str) -> list[bool]:
            splits = catalog.splits(transaction, table, tuple(handles[name] for name in names))
            return [split.native_file is not None for split in splits]

        assert native("id", "part") == [True, True]
        assert native("id", "a") == [False, True]
        assert native("b") == [False, True]


def test_the_first_columns_are_those_of_a_version_that_no_write_notes(catalog: HudiCatalog, writer: HudiWriter) -> None:
    alter(writer, (6, "b", "int"), history=False)
    with pytest.raises(NotSupportedError, match="lacks the columns") as caught:
        read(catalog, writer)
    assert caught.value.code.name == "HUDI_SCHEMA_ON_READ"


def test_a_file_with_columns_that_its_version_lacks_is_refused(catalog: HudiCatalog, writer: HudiWriter) -> None:
    noted = alter(writer, (6, "b", "int"))
    writer.commit({("part=a", "g2"): rows(a=[30])}, extra=noted)
    with pytest.raises(NotSupportedError, match="has the column 'a'"):
        read(catalog, writer)


def test_a_write_that_does_not_go_on_with_the_history_is_refused(catalog: HudiCatalog, writer: HudiWriter) -> None:
    alter(writer, (6, "b", "int"))
    writer.commit({("part=a", "g2"): rows(b=[30])})
    with pytest.raises(NotSupportedError, match="does not go on with") as caught:
        read(catalog, writer)
    assert caught.value.code.name == "HUDI_SCHEMA_ON_READ"


def test_a_renamed_partition_field_is_refused(catalog: HudiCatalog, writer: HudiWriter) -> None:
    newest = version([*META, field(5, "id", "long"), field(6, "a", "int"), field(7, "part", "int")])
    avro = avro_schema(pa.schema([("id", pa.int64()), ("a", pa.int32()), ("part", pa.int32())]))
    alter(writer, (6, "a", "int"))
    writer.commit({}, extra={"latest_schema": json.dumps(newest), "schema": avro})
    with pytest.raises(NotSupportedError, match="'part' was given another type"):
        read(catalog, writer)


def test_columns_that_differ_from_the_avro_schema_are_refused(catalog: HudiCatalog, writer: HudiWriter) -> None:
    noted = alter(writer, (6, "b", "int"))
    writer.commit({}, extra={**noted, "schema": avro_schema(rows(c=[1]).schema)})
    with pytest.raises(NotSupportedError, match="differ in"):
        read(catalog, writer)


def test_a_damaged_history_is_an_error(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows(a=[1])}, extra={"latest_schema": '{"max_column_id": 3}'})
    with pytest.raises(CorruptFileError, match="schema history"):
        read(catalog, writer)


@pytest.mark.skipif(not CASES, reason="the corpus is not here")
@pytest.mark.parametrize("case", [case for case in CASES if "_sor_" in case])
def test_statistics_and_indexes_are_not_used(case: str, tmp_path: Path) -> None:
    """They go by names. Any filter on a column that was altered leaves all files."""
    catalog = opened(case, tmp_path)
    with catalog.metadata() as (_, metadata):
        table = metadata.get_table_handle(catalog.session, SchemaTableName("s", "t"))
    assert isinstance(table, HudiTableHandle)
    assert table.indexes == IndexUse(files=True)
    newest = {name: Domain.single_value(pa.string(), text) for name, text in (("full_name", "a3"), ("price", "3.5"))}
    for name, domain in newest.items():
        constraint = TupleDomain.with_column_domains({ColumnHandle(name, pa.string()): domain})
        met = catalog.read(columns=["id", name], constraint=constraint)
        assert 3 in met.column("id").to_pylist()
    assert expected(case, "snapshot").num_rows == 4
