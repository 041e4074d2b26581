"""Values of Hive's ``uniontype`` in Arrow: structs of the number of the branch and a field for each, as in Trino.

The number's field has a mark in its metadata, which types of columns have from ``parse_hive_type``: a table may have a
struct of the very same fields. Arrow's types are equal with the mark and without.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

__all__ = ["UNION_FIELD", "UNION_TAG", "is_union_struct", "union_struct"]

UNION_TAG = "tag"
"""Name of the field with the number of the branch (Trino's ``UnionToRowCoercionUtils``)."""
UNION_FIELD = "field"
"""What the names of the fields of branches begin with; the branch's number follows."""
_MARK = {b"hive.type": b"uniontype"}


def is_union_struct(arrow: pa.DataType) -> bool:
    """Whether a type of a column is a ``uniontype``, not a struct that looks like one."""
    if not pa.types.is_struct(arrow) or not arrow.num_fields:
        return False
    first = arrow.field(0)
    return bool(first.name == UNION_TAG and first.metadata == _MARK)


def union_struct(branches: Sequence[pa.DataType]) -> pa.DataType:
    """The type of a union of these types."""
    fields = [pa.field(f"{UNION_FIELD}{index}", branch) for index, branch in enumerate(branches)]
    return pa.struct([pa.field(UNION_TAG, pa.int8(), metadata=_MARK), *fields])
