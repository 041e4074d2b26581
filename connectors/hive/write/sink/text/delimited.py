"""Rows as ``LazySimpleSerDe`` writes them: a separator for each level of nesting. Executor side."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.lazy.parameters import LazyParameters
from connectors.hive.write.sink.text.leaves import compact, joined, plain_texts, with_nulls

__all__ = ["DelimitedTexts"]


@dataclass(frozen=True, slots=True)
class DelimitedTexts:
    """Makes lines.

    Attributes:
        parameters: The SerDe's.
    """

    parameters: LazyParameters

    def lines(self, rows: pa.RecordBatch) -> pa.Array:
        """Each row as a text without the end of its line."""
        texts = [self.column(column) for column in rows.columns]
        return pc.binary_join_element_wise(*texts, self._separator(0))

    def column(self, array: pa.Array) -> pa.Array:
        """The texts of one column, none of them NULL."""
        return self._texts(array, 1)

    def _texts(self, array: pa.Array, level: int) -> pa.Array:
        """Texts of values, none of them NULL (``LazySimpleSerDe.serialize``)."""
        null, kind = self.parameters.null.decode(), array.type
        if pa.types.is_map(kind):
            maps = _readable(array, level)
            pair = (self._texts(maps.keys, level + 2), self._texts(maps.items, level + 2))
            entries = pc.binary_join_element_wise(*pair, self._separator(level + 1))
            return with_nulls(joined(entries, maps, self._separator(level)), maps, null)
        if pa.types.is_list(kind):
            lists = _readable(array, level)
            return with_nulls(joined(self._texts(lists.values, level + 1), lists, self._separator(level)), lists, null)
        if pa.types.is_struct(kind):
            fields = [self._texts(field, level + 1) for field in array.flatten()]
            return with_nulls(pc.binary_join_element_wise(*fields, self._separator(level)), array, null)
        texts = plain_texts(array)
        return pc.fill_null(self._escaped(texts) if pa.types.is_string(kind) else texts, null)

    def _separator(self, level: int) -> str:
        return self.parameters.separators[level : level + 1].decode()

    def _escaped(self, texts: pa.Array) -> pa.Array:
        escape = self.parameters.escape
        if escape is None:
            return texts
        signs = escape + bytes(one for one in self.parameters.separators if one < 128)
        meant = "".join(re.escape(chr(sign)) for sign in sorted(set(signs)))
        escaped = escape.decode()
        replacement = escaped.replace("\\", r"\\") + r"\0"
        return pc.replace_substring_regex(texts, f"[{meant}]", replacement)


def _readable(array: pa.Array, level: int) -> pa.Array:
    """Lists or maps, compact, if Hive reads them in all ways.

    An empty one inside of another type is nothing between two separators. ``LazyArray`` reads that right; the reader
    of vectorized queries takes it for an element without text, or at the end for none (met in Hive 4.0.1).
    """
    made = compact(array)
    empty = (np.diff(made.offsets.to_numpy()) == 0) & made.is_valid().to_numpy(zero_copy_only=False)
    if level > 1 and empty.any():
        raise NotSupportedError(
            "an empty array or map inside of another type is read by Hive's vectorized queries as another value; text "
            "files of this table do not hold such values: write NULL, or write to a table of ORC",
            error_codes.HIVE_UNSUPPORTED_TYPE,
        )
    return made
