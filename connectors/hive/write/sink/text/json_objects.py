"""Rows as JSON objects for Hive's ``JsonSerDe``. Executor side."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.write.sink.text.leaves import compact, joined, plain_texts, with_nulls

__all__ = ["JsonObjects"]

_NULL = "null"
_CONTROL = r"[\x00-\x1f]"
_CONTROLS = tuple(map(chr, range(32)))


class JsonObjects:
    """Makes lines of one object each; NULL is ``null``."""

    def lines(self, rows: pa.RecordBatch) -> pa.Array:
        """Each row as a text without the end of its line."""
        return self._objects(rows.schema.names, rows.columns)

    def _objects(self, names: list[str], columns: list[pa.Array]) -> pa.Array:
        parts: list[pa.Array | pa.Scalar] = []
        for number, (name, column) in enumerate(zip(names, columns, strict=True)):
            before = "," if number else "{"
            parts += [pa.scalar(f"{before}{json.dumps(name.lower(), ensure_ascii=False)}:"), self._texts(column)]
        return pc.binary_join_element_wise(*parts, pa.scalar("}"), "")

    def _texts(self, array: pa.Array) -> pa.Array:
        kind = array.type
        if pa.types.is_map(kind):
            maps = compact(array)
            entries = pc.binary_join_element_wise(self._keys(maps.keys), self._texts(maps.items), ":")
            return with_nulls(_between("{", joined(entries, maps, ","), "}"), maps, _NULL)
        if pa.types.is_list(kind):
            lists = compact(array)
            return with_nulls(_between("[", joined(self._texts(lists.values), lists, ","), "]"), lists, _NULL)
        if pa.types.is_struct(kind):
            objects = self._objects([field.name for field in kind], array.flatten())
            return with_nulls(objects, array, _NULL)
        texts = plain_texts(array)
        is_text = pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_temporal(kind)
        return pc.fill_null(_quoted(texts) if is_text else texts, _NULL)

    def _keys(self, keys: pa.Array) -> pa.Array:
        """Names of the entries of maps: texts, whatever the type."""
        return _quoted(plain_texts(keys))


def _quoted(texts: pa.Array) -> pa.Array:
    for sign in ("\\", '"'):
        texts = pc.replace_substring(texts, sign, "\\" + sign)
    if bool(pc.any(pc.match_substring_regex(texts, _CONTROL), min_count=0).as_py()):
        for sign in _CONTROLS:
            texts = pc.replace_substring(texts, sign, f"\\u{ord(sign):04x}")
    return _between('"', texts, '"')


def _between(before: str, texts: pa.Array, behind: str) -> pa.Array:
    return pc.binary_join_element_wise(pa.scalar(before), texts, pa.scalar(behind), "")
