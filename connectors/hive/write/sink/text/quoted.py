"""Rows as CSV for Hive's ``OpenCSVSerde``. Executor side."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.formats.open_csv import CsvSigns

__all__ = ["QuotedTexts"]


@dataclass(frozen=True, slots=True)
class QuotedTexts:
    """Makes lines of texts between quotes; NULL is nothing.

    Escapes are written, which Hive's own SerDe leaves out for its default escape, so that it reads other texts than it
    wrote (``OpenCSVSerde.newWriter``).

    Attributes:
        signs: Separator, quote and escape.
    """

    signs: CsvSigns

    def lines(self, rows: pa.RecordBatch) -> pa.Array:
        """Each row as a text without the end of its line."""
        return pc.binary_join_element_wise(*map(self._quoted, rows.columns), self.signs.separator)

    def _quoted(self, texts: pa.Array) -> pa.Array:
        quote, escape = self.signs.quote, self.signs.escape
        for sign in (escape, quote):
            texts = pc.replace_substring(texts, sign, escape + sign)
        quotes = pa.scalar(quote)
        return pc.fill_null(pc.binary_join_element_wise(quotes, texts, quotes, ""), "")
