"""Rows as HTML: nothing of a table is taken for HTML."""

from __future__ import annotations

from html.parser import HTMLParser

import pyarrow as pa

from lakeport.html_table import html_table
from lakeport.notebook.progress_bar import bar_html
from lakeport.scan_facts import JobCounts


class Reader(HTMLParser):
    """The texts of the cells, and every tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.tags: set[str] = set()
        self._in_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag in ("td", "th"):
            self.cells.append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.cells[-1] += data


def test_texts_are_escaped() -> None:
    nasty = '<img src=x onerror="alert(1)">&amp;'
    rows = pa.table({nasty: [nasty, None], "n": [1, -2]})
    shown = html_table(rows, more=False, footer="<b>")
    read = Reader(shown)
    assert read.cells == [nasty, "n", nasty, "1", "NULL", "-2"]
    assert read.tags == {"table", "thead", "tbody", "tr", "th", "td", "p", "small", "span"}
    assert "2 rows; &lt;b&gt;" in shown


def test_long_texts_and_names_that_are_there_twice() -> None:
    rows = pa.Table.from_arrays([pa.array(["x" * 1000]), pa.array([[{"a": 1}]])], names=["c", "c"])
    read = Reader(html_table(rows, more=True))
    assert read.cells[:2] == ["c", "c"]
    assert read.cells[2] == "x" * 199 + "…"
    assert read.cells[3] == "[{'a': 1}]"


def test_values_beyond_pythons_are_shown() -> None:
    far = pa.array([3 * 10**11], pa.int64()).cast(pa.timestamp("s"))
    assert Reader(html_table(pa.table({"t": far}), more=False)).cells[1].startswith("11476-")


def test_the_bar() -> None:
    assert 'value="3" max="7"' in bar_html(JobCounts(3, 7, 1200))
    assert "1,200 rows" in bar_html(JobCounts(3, 7, 1200))
    assert "value" not in bar_html(JobCounts())
