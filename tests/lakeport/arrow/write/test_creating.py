"""``Session.create_table_as``: the table's types, its rows, and what is left after an error."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import lakeport
from connector_spi.errors import ConnectorError, InvalidArgumentError, NotSupportedError, SchemaNotFoundError, UserError

_ROWS = pa.table({"Id": pa.array([1, 2, 3], pa.uint32()), "d": ["a", "b", "a"], "price": [Decimal("1.50"), None, None]})


@pytest.fixture
def session(tmp_path: Path) -> Iterator[lakeport.Session]:
    (tmp_path / "catalogs").mkdir()
    (tmp_path / "catalogs" / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={tmp_path / 'm.db'}\n"
    )
    (tmp_path / "catalogs" / "mem.properties").write_text("connector.name=memory\n")
    (tmp_path / "catalogs" / "hudi.properties").write_text(
        f"connector.name=hudi\nhive.metastore=embedded\nhive.metastore.embedded.path={tmp_path / 'm.db'}\n"
    )
    with lakeport.connect(catalogs=tmp_path / "catalogs") as opened:
        yield opened


@pytest.mark.parametrize("properties", [{}, {"transactional": "true"}], ids=["plain", "transactional"])
def test_the_table_has_the_rows_and_keys_are_last(
    session: lakeport.Session, tmp_path: Path, properties: dict[str, str]
) -> None:
    count = session.create_table_as("hive.default.T", _ROWS, partitioned_by=["d"], comment="c", properties=properties)
    assert count == 3
    found = session.arrow("hive.default.t").read_all().sort_by("id")
    assert found.schema.names == ["id", "price", "d"]
    assert found.schema.field("id").type == pa.int64()
    assert found.to_pydict() == {"id": [1, 2, 3], "price": [Decimal("1.50"), None, None], "d": ["a", "b", "a"]}
    assert session.insert("hive.default.t", _ROWS) == 3


def test_types_of_other_libraries_become_those_of_the_table(session: lakeport.Session) -> None:
    rows = pa.table(
        {
            "text": pa.array(["a", None], pa.large_string()),
            "view": pa.array(["a", None], pa.string_view()),
            "raw": pa.array([b"ab", None], pa.binary(2)),
            "coded": pa.array(["x", None]).dictionary_encode(),
            "at": pa.array([1_000, None], pa.timestamp("ns")),
            "list": pa.array([["a"], None], pa.large_list(pa.large_string())),
            "struct": pa.array([{"n": 1}, None], pa.struct([("n", pa.uint8())])),
            "map": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int8())),
        }
    )
    assert session.create_table_as("hive.default.kinds", rows, using="parquet") == 2
    wanted = rows.cast(
        pa.schema(
            {
                "text": pa.string(),
                "view": pa.string(),
                "raw": pa.binary(),
                "coded": pa.string(),
                "at": pa.timestamp("us"),
                "list": pa.list_(pa.string()),
                "struct": pa.struct([("n", pa.int16())]),
                "map": pa.map_(pa.string(), pa.int8()),
            }
        )
    )
    assert session.arrow("hive.default.kinds").read_all().to_pylist() == wanted.to_pylist()


def test_rows_that_do_not_fit_leave_no_table(session: lakeport.Session, tmp_path: Path) -> None:
    rows = pa.table({"at": pa.array([1_001], pa.timestamp("ns"))})
    with pytest.raises(InvalidArgumentError, match="at"):
        session.create_table_as("hive.default.t", rows)
    with pytest.raises(NotSupportedError, match=r"seconds|time"):
        session.create_table_as("hive.default.t", pa.table({"t": pa.array([1], pa.time64("us"))}))
    with pytest.raises(InvalidArgumentError, match="type"):
        session.create_table_as("hive.default.t", pa.table({"t": pa.nulls(1)}))
    with pytest.raises(InvalidArgumentError, match="partitioned by 'nope'"):
        session.create_table_as("hive.default.t", _ROWS, partitioned_by=["nope"])
    with pytest.raises(SchemaNotFoundError, match="nope"):
        session.create_table_as("hive.nope.t", _ROWS)
    assert session.tables("hive.default") == []
    assert not any(path.name == "t" for path in tmp_path.rglob("*"))
    assert session.create_table_as("hive.default.t", _ROWS) == 3


def test_what_is_there_stays(session: lakeport.Session) -> None:
    session.create_table_as("hive.default.t", _ROWS)
    with pytest.raises(ConnectorError, match=r"default\.t exists already"):
        session.create_table_as("hive.default.t", _ROWS.slice(0, 1))
    assert session.arrow("hive.default.t").read_all().num_rows == 3


def test_files_that_are_there_do_not_become_rows(session: lakeport.Session, tmp_path: Path) -> None:
    session.create_table_as("hive.default.first", _ROWS)
    [folder] = [path for path in tmp_path.rglob("first") if path.is_dir()]
    (folder.parent / "second").mkdir()
    parquet.write_table(_ROWS, folder.parent / "second" / "part-0")
    with pytest.raises(UserError, match="second is not empty; say LOCATION"):
        session.create_table_as("hive.default.second", _ROWS, using="parquet")
    assert (folder.parent / "second" / "part-0").exists()


def test_catalogs_that_make_no_tables_are_named(session: lakeport.Session) -> None:
    with pytest.raises(NotSupportedError, match="catalog 'hudi' does not write rows: CREATE TABLE AS is refused"):
        session.create_table_as("hudi.default.t", _ROWS)
    assert session.create_table_as("mem.default.t", _ROWS, partitioned_by=["d"]) == 3
    assert session.arrow("mem.default.t").read_all().num_rows == 3
