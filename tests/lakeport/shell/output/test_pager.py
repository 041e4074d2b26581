"""Output through a pager, and the lines around a result."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.names import CatalogSchemaTableName
from connector_spi.splits import ScanSummary
from lakeport.scan_facts import JobCounts, ScanFacts, scan_totals
from lakeport.shell.footer import footer, progress_text
from lakeport.shell.output.formats import FORMATS
from lakeport.shell.output.pager import PagedOutput, pager_command
from lakeport.shell.progress_line import ProgressWatch
from lakeport.shell.runner import RunState

NAME = CatalogSchemaTableName("c", "s", "t")


def keeping(path: Path, lines: int | None = None) -> list[str]:
    """A pager that writes what it gets into a file, and leaves after some lines."""
    program = "import sys\nwith open(sys.argv[1], 'w') as out:\n"
    program += f"  for n, line in enumerate(sys.stdin):\n    if n == {lines}: break\n    out.write(line)\n"
    return [sys.executable, "-c", program, str(path)]


def test_what_fits_the_screen_needs_no_pager(tmp_path: Path) -> None:
    out = io.BytesIO()
    paged = PagedOutput(out, 10, 80, keeping(tmp_path / "seen"))
    for number in range(8):
        paged.write(f"{number}\n".encode())
    assert out.getvalue() == b""
    paged.finish()
    assert out.getvalue() == b"0\n1\n2\n3\n4\n5\n6\n7\n"
    assert not (tmp_path / "seen").exists()


@pytest.mark.process
@pytest.mark.parametrize("line", ["x\n", "x" * 900 + "\n"])
def test_what_exceeds_it_goes_there_as_it_comes(tmp_path: Path, line: str) -> None:
    out = io.BytesIO()
    paged = PagedOutput(out, 10, 80, keeping(tmp_path / "seen"))
    for _ in range(9):
        paged.write(line.encode())
    paged.finish()
    assert (out.getvalue(), (tmp_path / "seen").read_text()) == (b"", 9 * line)


@pytest.mark.process
def test_the_user_who_leaves_ends_the_output(tmp_path: Path) -> None:
    paged = PagedOutput(io.BytesIO(), 10, 80, keeping(tmp_path / "seen", 3))

    def write_much() -> None:
        for _ in range(100_000):
            paged.write(b"x" * 1000 + b"\n")

    with pytest.raises(BrokenPipeError):
        write_much()
    paged.finish()
    assert not paged.is_paging


@pytest.mark.process
def test_a_pager_that_is_not_there_loses_nothing() -> None:
    out = io.BytesIO()
    paged = PagedOutput(out, 3, 80, ["/no/such/pager"])
    for _ in range(5):
        paged.write(b"x\n")
    paged.finish()
    assert out.getvalue() == b"x\n" * 5


def test_which_pager() -> None:
    assert pager_command({"PAGER": "more -d", "LAKEPORT_PAGER": "pspg --csv"}) == ["pspg", "--csv"]
    assert pager_command({"PAGER": "more -d"}) == ["more", "-d"]
    assert pager_command({"PAGER": ""}) is None


def test_the_line_below_a_result() -> None:
    scans = scan_totals(
        [
            ScanFacts(NAME, ScanSummary(None, 1, 4, 2, 8), 2, 1, 2048, True),
            ScanFacts(NAME, ScanSummary(None, None, None, 3, None), 3, 1, 1024, False),
        ]
    )
    state = RunState("writing", 1.234, JobCounts(2, 2, 10, 0), 1000, scans)
    assert footer(state) == "(1,000 rows, 1.23 s, 3.0 kB in splits, partitions 1 of 4, files 5 of ?)"
    assert footer(state, timing=False, shown="2 more columns") == "(1,000 rows, 2 more columns)"
    assert footer(RunState("writing", 0.5, JobCounts(), None)) == "ok, 0.50 s"
    read = RunState("writing", 0.5, JobCounts(1, 1, 1, 1 << 20), 1, scan_totals([]))
    assert footer(read) == "(1 row, 0.50 s)"


def test_the_line_of_progress() -> None:
    state = RunState("reading", 4.0, JobCounts(12, 40, 12_000_000, 8 << 20))
    assert progress_text(state, 0)[2:] == "running 4 s, 12 of 40 tasks, 12 M rows, 3 M rows/s, 8.0 MB, 2.0 MB/s"
    assert progress_text(RunState("starting", 2.0, JobCounts(), engine="Spark"), 1)[2:] == "starting Spark 2 s"


def test_progress_beside_a_result_that_goes_elsewhere() -> None:
    terminal, out = io.StringIO(), io.BytesIO()
    watch = ProgressWatch(terminal, FORMATS["csv"])
    watch.tick(RunState("reading", 0.1, JobCounts(1, 4)))
    assert terminal.getvalue() == ""
    watch.tick(RunState("reading", 3.0, JobCounts(1, 4)))
    assert "running 3 s, 1 of 4 tasks" in terminal.getvalue()
    batch = pa.record_batch({"a": [1]})
    watch.write(batch.schema, iter([batch]), out)
    watch.tick(RunState("writing", 5.0, JobCounts(4, 4)))
    assert terminal.getvalue().endswith("\r\x1b[K")
    assert out.getvalue() == b"a\n1\n"
