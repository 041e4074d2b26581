"""What Tab offers in a real kernel: SQL below ``%%lakeport``, and Python everywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from jupyter_client.manager import KernelManager

SETUP = """
%load_ext lakeport
%lakeport --catalogs catalogs
import lakeport, pyarrow as pa
from connector_spi import SchemaTableName
session = get_ipython().magics_manager.registry["LakeportMagics"]._session
memory = session.catalogs.get("mem")
memory.create_table(SchemaTableName("s", "trips"), pa.table({"fare": [1.5], "Trip Id": [1]}))
mine = lakeport.connect(catalogs="others")
fare_of_python = 1
%reload_ext lakeport
%lakeport --session session
"""

pytestmark = pytest.mark.process

Offer = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def offered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Offer]:
    """Gives what is offered for a cell whose cursor is written as ``|``, as whole cells with it taken."""
    folder = tmp_path_factory.mktemp("completing")
    for name, catalog in (("catalogs", "mem"), ("others", "other")):
        (folder / name).mkdir()
        (folder / name / f"{catalog}.properties").write_text("connector.name=memory\n", encoding="utf-8")
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(folder))
    client = manager.client()
    client.start_channels()

    def offer(text: str) -> list[str]:
        cursor = text.index("|")
        cell = text.replace("|", "", 1)
        found = client.complete(cell, cursor, reply=True, timeout=60)["content"]
        begin, end = found["cursor_start"], found["cursor_end"]
        return [cell[:begin] + one + cell[end:] for one in found["matches"]]

    try:
        client.wait_for_ready(timeout=120)
        done = client.execute(SETUP, reply=True, timeout=120)
        assert done["content"]["status"] == "ok", done["content"]
        yield offer
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%lakeport\nSELECT *\nFROM mem.s.tr|", "%%lakeport\nSELECT *\nFROM mem.s.trips"),
        (
            "%%lakeport --rows 2 -o x\nSELECT fa|\nFROM mem.s.trips",
            "%%lakeport --rows 2 -o x\nSELECT fare\nFROM mem.s.trips",
        ),
        ("%%lakeport\nSELECT | FROM mem.s.trips", "%%lakeport\nSELECT `Trip Id` FROM mem.s.trips"),
        ("%%lakeport SELECT 1 FR|", "%%lakeport SELECT 1 FROM"),
        ("one = 1\nq = %lakeport SELECT * FROM mem.|\nq", "one = 1\nq = %lakeport SELECT * FROM mem.s\nq"),
        ("%%lakeport --session mine\nSELECT * FROM ot|", "%%lakeport --session mine\nSELECT * FROM other"),
        ("%%lakeport --ro|", "%%lakeport --rows"),
        ("%%lakeport --|\nSELECT 1", "%%lakeport --format\nSELECT 1"),
        ("%%lakeport --format pa|", "%%lakeport --format pandas"),
        ("fare_of|", "fare_of_python"),
    ],
)
def test_what_is_offered(offered: Offer, text: str, expected: str) -> None:
    assert expected in offered(text)


def test_sql_is_not_mixed_with_python(offered: Offer) -> None:
    assert offered("%%lakeport\nSELECT far| FROM mem.s.trips") == ["%%lakeport\nSELECT fare FROM mem.s.trips"]
    assert not any("trips" in one for one in offered("far|"))
