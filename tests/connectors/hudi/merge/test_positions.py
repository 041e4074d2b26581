"""Logs that record the positions of their rows in the base file, as those of Hudi 1.x do."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.errors import CorruptFileError
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.log.writer import encoded_positions
from tests.connectors.hudi.merge.writer import Block, Delete, SliceWriter, Upsert

SCHEMA = pa.schema([("key", pa.string()), ("ts", pa.int64()), ("v", pa.string())])
COMMIT_TIME = {"hoodie.table.ordering.fields": "ts", "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}
BASE = [{"key": f"k{number}", "ts": 1, "v": "old"} for number in range(12)]


def row(key: str) -> dict[str, object]:
    return {"key": key, "ts": 1, "v": "new"}


@pytest.fixture
def catalog(tmp_path: Path) -> HudiCatalog:
    return make_catalog(tmp_path)


def write(tmp_path: Path, blocks: list[tuple[Block, list[int] | None]], base_instant: str | None = None) -> SliceWriter:
    """A base file of three row groups, and a log of blocks with positions of their own."""
    table = SliceWriter(tmp_path / "table", 9, SCHEMA, COMMIT_TIME)
    written = table.base(BASE, group_rows=5)
    for block, positions in blocks:
        instant = table.table.next_instant()
        headers = {}
        if positions is not None:
            headers["RECORD_POSITIONS"] = encoded_positions(positions)
            headers["BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS"] = base_instant or written
        table.log([table.block(block, instant, **headers)], instant=instant)
    return table


def values(catalog: HudiCatalog, table: SliceWriter, split_size: int = 1 << 20) -> dict[str, str]:
    catalog.register(table.folder)
    rows = catalog.with_property("max_split_size", split_size).read(columns=["key", "v"]).to_pylist()
    assert len({item["key"] for item in rows}) == len(rows)
    return {item["key"]: item["v"] for item in rows}


@pytest.mark.parametrize("split_size", [1 << 20, 1 << 8], ids=["one_split", "several"])
def test_rows_are_replaced_where_they_are(catalog: HudiCatalog, tmp_path: Path, split_size: int) -> None:
    table = write(tmp_path, [(Upsert([row("k1"), row("k6"), row("k11")]), [1, 6, 11]), (Delete([("k4", None)]), [4])])
    expected = {f"k{number}": "new" if number in (1, 6, 11) else "old" for number in range(12) if number != 4}
    assert values(catalog, table, split_size) == expected


@pytest.mark.parametrize(
    ("positions", "other", "base_instant"),
    [([0], [5], "20230101000000000"), ([0], None, None)],
    ids=["of_another_base_file", "one_block_without"],
)
def test_positions_that_do_not_hold_are_not_used(
    catalog: HudiCatalog, tmp_path: Path, positions: list[int], other: list[int] | None, base_instant: str | None
) -> None:
    """The recorded positions are of other rows: they would replace those."""
    table = write(tmp_path, [(Upsert([row("k3")]), positions), (Delete([("k4", None)]), other)], base_instant)
    expected = {f"k{number}": "new" if number == 3 else "old" for number in range(12) if number != 4}
    assert values(catalog, table) == expected


@pytest.mark.parametrize("positions", [[12], [3, 4]], ids=["behind_the_last_row", "more_than_rows"])
def test_positions_that_cannot_be_are_refused(catalog: HudiCatalog, tmp_path: Path, positions: list[int]) -> None:
    table = write(tmp_path, [(Upsert([row("k3")]), positions)])
    with pytest.raises(CorruptFileError, match=r"record positions|row 12"):
        values(catalog, table)
