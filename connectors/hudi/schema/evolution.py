"""From the columns of one version of a table to those of another, by their ids (InternalSchemaMerger). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connectors.hudi.error_codes import HUDI_SCHEMA_ON_READ
from connectors.hudi.schema.internal_schema import InternalField, InternalSchema
from connectors.hudi.schema.table_schema import META_COLUMNS
from connectors.toolkit.schema.time_casts import ArrayFunction
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.schema.type_adaptation import map_nested
from connectors.toolkit.schema.value_casts import leaf_cast

__all__ = ["EvolvedColumn", "evolve", "java_text"]

# Java writes numbers outside of these bounds with an exponent (Double.toString).
_SMALLEST_PLAIN, _SMALLEST_EXPONENT = 1e-3, 1e7


@dataclass(frozen=True, slots=True)
class EvolvedColumn:
    """Where a column is in files of another version.

    Attributes:
        column: The column asked.
        written: It by its names and types in the files; ``None`` where they lack it: its values are NULL.
        function: From arrays of ``written`` to arrays of ``column``; ``None`` where they are the same.
    """

    column: ColumnHandle
    written: ColumnHandle | None
    function: ArrayFunction | None = None

    @property
    def is_same(self) -> bool:
        """Whether the files have the column by the same names, with the same types."""
        return self.written == self.column and self.function is None

    def adapt(self, array: pa.Array | None, rows: int) -> pa.Array:
        """The values asked; ``None`` stands for a column that the files lack."""
        if array is None:
            return pa.nulls(rows, self.column.type)
        return array if self.function is None else self.function(array)


def evolve(
    query: InternalSchema, written: InternalSchema, columns: Sequence[ColumnHandle], where: str
) -> tuple[EvolvedColumn, ...]:
    """Finds columns in the files of another version.

    Args:
        query: The version that the query shows.
        written: The version of the files.
        columns: Columns of ``query``, nested types may be narrowed; meta columns and columns that no version has
            stay as they are.
        where: Names the file, for messages.

    Raises:
        NotSupportedError: The type changed in a way that is not understood.
    """
    by_id = {field.id: field for field in written.fields}

    def one(column: ColumnHandle) -> EvolvedColumn:
        asked = query.named(column.name)
        if asked is None or column.name in META_COLUMNS:
            return EvolvedColumn(column, column)
        found = by_id.get(asked.id)
        if found is None:
            return EvolvedColumn(column, None)
        kind, function = _adaptation(column.type, asked, found, f"column '{column.name}' of {where}")
        return EvolvedColumn(column, ColumnHandle(found.name, kind), function)

    return tuple(map(one, columns))


def java_text(array: pa.Array) -> pa.Array:
    """Floating-point numbers as Java writes them (``Float.toString``, ``Double.toString`` since JDK 19)."""
    encoded = array.dictionary_encode()
    scalar = np.float32 if pa.types.is_float32(array.type) else np.float64
    texts = [_java_number(scalar(value)) for value in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)


_Adaptation = tuple[pa.DataType, ArrayFunction | None]


def _adaptation(target: pa.DataType, asked: InternalField, found: InternalField, where: str) -> _Adaptation:
    """The type to read, with the file's names, and the way from there to the target."""
    if _nesting(asked.type) != _nesting(found.type):
        raise _refusal(where, found.type, target)
    if pa.types.is_struct(target):
        return _struct(target, asked, found, where)
    if not asked.children:
        return found.type, _leaf(found.type, target, where)
    if [child.id for child in asked.children] != [child.id for child in found.children]:
        raise _refusal(where, found.type, target)
    targets = [target.key_type, target.item_type] if pa.types.is_map(target) else [target.value_type]
    inner = [
        _adaptation(kind, one, other, where)
        for kind, one, other in zip(targets, asked.children, found.children, strict=True)
    ]
    kinds = [kind for kind, _ in inner]
    functions = [function for _, function in inner]
    if kinds == targets and not any(functions):
        return target, None
    made = pa.map_(*kinds) if pa.types.is_map(target) else pa.list_(pa.field("element", kinds[0]))

    def children(arrays: Sequence[pa.Array]) -> list[pa.Array]:
        return [function(array) if function else array for function, array in zip(functions, arrays, strict=True)]

    return made, lambda array: map_nested(array, target, children)


def _struct(target: pa.DataType, asked: InternalField, found: InternalField, where: str) -> _Adaptation:
    by_name = {child.name: child for child in asked.children}
    by_id = {child.id: child for child in found.children}
    if not by_id.keys() & {child.id for child in asked.children}:
        # Whether such a struct is NULL, readers of Hudi do not agree on.
        raise _refusal(where, found.type, target)
    read: list[pa.Field] = []
    positions: list[int | None] = []
    functions: list[ArrayFunction | None] = []
    for field in target:
        written = by_id.get(by_name[field.name].id)
        positions.append(None if written is None else len(read))
        if written is None:
            functions.append(None)
            continue
        kind, function = _adaptation(field.type, by_name[field.name], written, f"'{field.name}' in {where}")
        read.append(pa.field(written.name, kind))
        functions.append(function)
    # A struct of which no field is there is NULL where the file's is.
    first = found.children[0]
    made = pa.struct(read or [pa.field(first.name, first.type)])
    if made == target and not any(functions):
        return target, None

    def children(arrays: Sequence[pa.Array]) -> list[pa.Array]:
        rows = len(arrays[0])
        given = [None if position is None else arrays[position] for position in positions]
        return [
            pa.nulls(rows, field.type) if array is None else function(array) if function else array
            for field, function, array in zip(target, functions, given, strict=True)
        ]

    return made, lambda array: map_nested(array, target, children)


def _leaf(source: pa.DataType, target: pa.DataType, where: str) -> ArrayFunction | None:
    if source == target:
        return None
    if source == pa.float32() and target == pa.float64():
        # Through text, so that 1.1 stays 1.1 (HoodieAvroUtils, SparkInternalSchemaConverter.convertFloatType).
        return lambda array: java_text(array).cast(target)
    if pa.types.is_floating(source) and target == pa.string():
        return java_text
    if (_widens(source, target)) or (source == pa.date32() and target == pa.string()):
        return leaf_cast(source, target, TimeConventions(), where, strict=True)
    raise _refusal(where, source, target)


def _widens(source: pa.DataType, target: pa.DataType) -> bool:
    if source == pa.int32():
        return target in (pa.int64(), pa.float32(), pa.float64(), pa.string())
    if source == pa.int64():
        return target in (pa.float32(), pa.float64(), pa.string())
    return bool(pa.types.is_decimal(source) and pa.types.is_decimal(target))


def _nesting(arrow: pa.DataType) -> str:
    kinds = {"struct": pa.types.is_struct, "map": pa.types.is_map, "list": pa.types.is_list}
    return next((name for name, test in kinds.items() if test(arrow)), "")


def _java_number(value: np.float32 | np.float64) -> str:
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or _SMALLEST_PLAIN <= abs(float(value)) < _SMALLEST_EXPONENT:
        return np.format_float_positional(value, unique=True, trim="0")
    mantissa, exponent = np.format_float_scientific(value, unique=True, trim="0").split("e")
    return f"{mantissa}E{int(exponent)}"


def _refusal(where: str, source: pa.DataType, target: pa.DataType) -> NotSupportedError:
    return NotSupportedError(
        f"{where} was altered from {source} to {target}, which cannot be read of older files yet; leave the column "
        "out, or rewrite the table",
        HUDI_SCHEMA_ON_READ,
    )
