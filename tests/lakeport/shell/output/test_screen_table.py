"""Tables that fit the screen."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from connector_spi.errors import InvalidArgumentError
from lakeport.shell.output.cells import cut
from lakeport.shell.output.formats import FORMATS, file_format
from lakeport.shell.output.screen_table import ScreenTable, fitted_widths
from lakeport.shell.output.settings import ShellSettings
from lakeport.shell.output.themes import THEMES, prompt_style


def shown(width: int | None, table: dict[str, list[object]], **settings: str) -> tuple[list[str], ScreenTable]:
    writer = ScreenTable(width, ShellSettings(**settings))
    batch = pa.record_batch(table)
    out = io.BytesIO()
    assert writer(batch.schema, iter([batch]), out) == batch.num_rows
    return out.getvalue().decode().splitlines(), writer


def test_a_long_text_is_cut_and_a_number_is_not() -> None:
    lines, writer = shown(34, {"n": [12345678901234], "text": ["a" * 50]})
    assert lines == [
        "       n        |      text",
        "----------------+-----------------",
        " 12345678901234 | " + "a" * 14 + "…",
    ]
    assert writer.is_cut


def test_wide_characters_are_cut_between_two_of_them() -> None:
    lines, _ = shown(22, {"t": ["日本語日本語日本語", "a"], "n": [1, 2]})
    assert lines[2:] == [" 日本語日本語日…  | 1", " a                | 2"]
    assert all(get_cwidth(line) <= 22 for line in lines)


def test_what_does_not_fit_even_so_is_shown_on_lines_of_its_own() -> None:
    many: dict[str, list[object]] = {f"column_{n}": [n, None] for n in range(6)}
    lines, _ = shown(40, many, null="∅")
    assert lines[1:3] == ["column_0 | 0", "column_1 | 1"]
    assert lines[8:10] == ["column_0 | ∅", "column_1 | ∅"]
    never, writer = shown(40, many, expanded="off")
    assert never[0] == " column_0 | column_1 | column_2"
    assert writer.left_out == 3
    whole, _ = shown(None, many)
    assert whole[0].count("|") == 5


def test_a_record_is_chosen() -> None:
    lines, _ = shown(80, {"a": [1], "long name": ["x\ny"]}, expanded="on")
    assert lines[1:] == ["a         | 1", "long name | x\\ny"]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.integers(1, 120))
def test_fitted_columns_fit_and_none_is_wider_than_it_needs(widths: list[int], room: int) -> None:
    least = [min(width, 10) for width in widths]
    fitted = fitted_widths(widths, least, room)
    if fitted is None:
        assert sum(least) + 3 * len(least) - 1 > room
        return
    assert sum(fitted) + 3 * len(fitted) - 1 <= room
    assert all(low <= one <= width for low, one, width in zip(least, fitted, widths, strict=True))
    if sum(widths) + 3 * len(widths) - 1 <= room:
        assert fitted == widths


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20), st.integers(1, 12))
def test_a_cut_text_takes_no_more_than_it_may(text: str, width: int) -> None:
    assert get_cwidth(cut(text, width)) <= max(width, 1)


def test_markdown_and_vertical() -> None:
    batch = pa.record_batch({"a|b": ["x|y", None], "n": [1, 2]})
    out = io.BytesIO()
    assert FORMATS["markdown"](batch.schema, iter([batch]), out) == 2
    assert out.getvalue().decode() == "| a\\|b | n |\n| --- | --: |\n| x\\|y | 1 |\n|  | 2 |\n"
    out = io.BytesIO()
    assert FORMATS["vertical"](batch.schema, iter([batch]), out) == 2
    assert "a|b | NULL\nn   | 2\n(2 rows)\n" in out.getvalue().decode()


@pytest.mark.parametrize("name", ["n", "eleven_char", "twelve_chars", "a_name_of_many_characters", "日本日本日本日本"])
def test_the_cross_of_a_record_is_above_the_bars(name: str) -> None:
    """As psql has it; the title covers the cross where the names are short."""
    batch = pa.record_batch({name: [1] * 10})
    out = io.BytesIO()
    FORMATS["vertical"](batch.schema, iter([batch]), out)
    lines = out.getvalue().decode().splitlines()
    bar = get_cwidth(lines[1].split("|")[0])
    assert lines[0].startswith("-[ RECORD 1 ]")
    assert lines[0].find("+") == (bar if bar >= len("-[ RECORD 1 ]") else -1)


def test_a_files_ending_says_its_format() -> None:
    batch = pa.record_batch({"a": [1, 2]})
    out = io.BytesIO()
    assert file_format("X.ARROW")(batch.schema, iter([batch]), out) == 2
    assert pa.ipc.open_file(out.getvalue()).read_all().to_pydict() == {"a": [1, 2]}
    with pytest.raises(InvalidArgumentError, match=r"ends in '\.xls', expected one of \.txt"):
        file_format("a.xls")


def test_settings_say_what_they_take() -> None:
    settings = ShellSettings().with_text("expanded", "ON").with_text("timing", "").with_text("null", "-")
    assert (settings.expanded, settings.timing, settings.null) == ("on", "off", "-")
    with pytest.raises(InvalidArgumentError, match="did you mean 'format'"):
        settings.with_text("formt", "csv")
    with pytest.raises(InvalidArgumentError, match="did you mean 'parquet'"):
        settings.with_text("format", "parket")
    with pytest.raises(InvalidArgumentError, match="expected on or off"):
        settings.with_text("pager", "maybe")


def test_themes() -> None:
    settings = ShellSettings().with_text("theme", "Dark")
    assert settings.theme == "dark"
    with pytest.raises(InvalidArgumentError, match="did you mean 'terminal'"):
        settings.with_text("theme", "terminl")
    for theme in THEMES:
        style = prompt_style(theme)
        attributes = style.get_attrs_for_style_str("class:pygments.literal.string.symbol")
        # Colours with names of their own are the terminal's: it fits them to its background.
        assert theme not in ("terminal", "none") or attributes.color in ("ansigreen", "")
