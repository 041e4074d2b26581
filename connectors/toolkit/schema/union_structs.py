"""Values of Hive's ``uniontype`` in Arrow: structs of the number of the branch and a field for each, as in Trino.

The number's field has a mark in its metadata, which types of columns have from ``parse_hive_type``: a table may have a
struct of the very same fields. It also tells how many branches there are, of which a narrowed type may lack some.
Arrow's types are equal with the mark and without.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

__all__ = ["UNION_FIELD", "UNION_TAG", "branch_count", "is_union_struct", "union_struct"]

UNION_TAG = "tag"
"""Name of the field with the number of the branch (Trino's ``UnionToRowCoercionUtils``)."""
UNION_FIELD = "field"
"""What the names of the fields of branches begin with; the branch's number follows."""
_TYPE, _BRANCHES = b"hive.type", b"hive.branches"


def is_union_struct(arrow: pa.DataType) -> bool:
    """Whether a type of a column is a ``uniontype``, not a struct that looks like one."""
    return branch_count(arrow) is not None


def branch_count(arrow: pa.DataType) -> int | None:
    """How many branches a ``uniontype`` has, also where its type is narrowed to some; ``None`` of any other type."""
    if not pa.types.is_struct(arrow) or not arrow.num_fields:
        return None
    position = arrow.get_field_index(UNION_TAG)
    metadata = arrow.field(position).metadata if position >= 0 else None
    return int(metadata[_BRANCHES]) if metadata and metadata.get(_TYPE) == b"uniontype" else None


def union_struct(branches: Sequence[pa.DataType]) -> pa.DataType:
    """The type of a union of these types."""
    fields = [pa.field(f"{UNION_FIELD}{index}", branch) for index, branch in enumerate(branches)]
    mark = {_TYPE: b"uniontype", _BRANCHES: str(len(fields)).encode()}
    return pa.struct([pa.field(UNION_TAG, pa.int8(), metadata=mark), *fields])
