"""Rows as an HTML table."""

from __future__ import annotations

from html import escape

import pyarrow as pa

__all__ = ["html_table"]

_SHOWN_CHARACTERS = 200


def html_table(rows: pa.Table, *, more: bool, footer: str = "") -> str:
    """An HTML table with all texts escaped.

    Args:
        rows: The rows to show.
        more: Whether there are more rows than shown.
        footer: A sentence below the table, as plain text.
    """
    head = "".join(
        f'<th title="{escape(str(field.type))}" style="text-align: {_side(field.type)}">{escape(field.name)}</th>'
        for field in rows.schema
    )
    columns = [_cells(column) for column in rows.columns]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*columns, strict=True))
    caption = f"first {rows.num_rows} rows, there are more" if more else _counted(rows.num_rows)
    caption = f"{caption}; {footer}" if footer else caption
    return (
        f'<table class="lakeport"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        f"<p><small>{escape(caption)}</small></p>"
    )


def _cells(column: pa.ChunkedArray) -> list[str]:
    side = _side(column.type)
    return [f'<td style="text-align: {side}">{_text(value)}</td>' for value in column]


def _text(value: pa.Scalar) -> str:
    if not value.is_valid:
        return '<span style="opacity: 0.5">NULL</span>'
    try:
        text = str(value.as_py())
    except (ValueError, OverflowError):
        # A value that Python's types cannot represent, such as the year 10000.
        text = str(value.cast(pa.string()).as_py())
    return escape(text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…")


def _side(data_type: pa.DataType) -> str:
    numeric = pa.types.is_integer(data_type) or pa.types.is_floating(data_type) or pa.types.is_decimal(data_type)
    return "right" if numeric else "left"


def _counted(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows} rows"
