"""NULL structs whose fields are NULL too, as Arrow's writer of ORC needs them. Executor side.

``NormalizeArray`` of Arrow's ORC adapter does that for a struct that is NULL somewhere, and passes over what is below a
struct that is not: there the fields of a NULL struct are written, and the values behind them move to other rows.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

__all__ = ["with_null_fields"]


def with_null_fields(array: pa.Array) -> pa.Array:
    """The same values; below a NULL struct every field is NULL."""
    if not _has_struct(array.type):
        return array
    if array.offset:
        # Arrays of lists are made of offsets and NULLs only where they are not a part of others.
        array = array.take(pa.array(np.arange(len(array))))
    if pa.types.is_struct(array.type):
        fields = [array.type.field(index) for index in range(array.type.num_fields)]
        children = [with_null_fields(child) for child in array.flatten()]
        return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null())
    if pa.types.is_map(array.type):
        keys, items = with_null_fields(array.keys), with_null_fields(array.items)
        return pa.MapArray.from_arrays(array.offsets, keys, items, type=array.type, mask=array.is_null())
    return pa.ListArray.from_arrays(
        array.offsets, with_null_fields(array.values), type=array.type, mask=array.is_null()
    )


def _has_struct(data_type: pa.DataType) -> bool:
    if pa.types.is_struct(data_type):
        return True
    if pa.types.is_map(data_type):
        return _has_struct(data_type.key_type) or _has_struct(data_type.item_type)
    return pa.types.is_list(data_type) and _has_struct(data_type.value_type)
