"""Texts with a separator for each level of nesting, decoded: what Hive's lazy SerDes share. Executor side.

Sources of the rules: ``LazyStruct.parse``, ``LazyArray.parse``, ``LazyMap.parse``, ``LazyUnion.parse``,
``LazyUtils.copyAndEscapeStringDataToText`` of Hive 4.0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.lazy.hidden_escapes import HiddenEscapes
from connectors.hive.formats.lazy.keys import first_keys
from connectors.hive.formats.lazy.parameters import LazyParameters
from connectors.hive.formats.lazy.regular_fields import split_fields
from connectors.hive.formats.lazy.unions import cut_unions
from connectors.hive.formats.text.times import parse_dates
from connectors.hive.formats.text.values import (
    as_strings,
    parse_base64,
    parse_booleans,
    parse_decimals,
    parse_floats,
    parse_integers,
    real_nulls,
)
from connectors.toolkit.cells import spread
from connectors.toolkit.schema.union_structs import is_union_struct

__all__ = ["check_escape", "check_levels", "decode_column", "decode_texts"]


def decode_column(texts: pa.Array, target: pa.DataType, parameters: LazyParameters, level: int = 1) -> pa.Array:
    """Decodes the texts of one column.

    Args:
        texts: Arrow ``binary`` or ``string``, in UTF-8 (``to_utf8``); NULL where the row has no such field. Texts in
            the form of NULL (such as ``\\N``) become NULL here.
        target: The column's type: ``char`` and ``varchar`` as strings, that are padded and cut elsewhere.
        parameters: The SerDe's.
        level: Which separator the type's own elements have: 1 for a column.

    Raises:
        NotSupportedError: The type is nested more deeply than there are separators.
        CorruptFileError: A union does not tell which of its types it has.
    """
    check_levels(target, level, parameters, "a column")
    hidden, hiding = HiddenEscapes.of(texts.cast(pa.binary()), parameters)
    return decode_texts(hiding, target, parameters, hidden, level)


def check_levels(arrow: pa.DataType, level: int, parameters: LazyParameters, where: str) -> None:
    """Refuses types that are nested more deeply than there are separators.

    Raises:
        NotSupportedError: It is so; Hive fails, too.
    """
    deeper = 2 if pa.types.is_map(arrow) else 1
    if pa.types.is_nested(arrow) and level + deeper > len(parameters.separators):
        raise NotSupportedError(
            f"{where} has a type nested more deeply than there are {len(parameters.separators)} separators; set "
            "hive.serialization.extend.nesting.levels=true as the writer did, or leave the column out",
            error_codes.HIVE_UNSUPPORTED_TYPE,
        )
    if pa.types.is_nested(arrow):
        check_escape(parameters, level, level + deeper, where)
    if pa.types.is_map(arrow):
        check_levels(arrow.item_type, level + 2, parameters, where)
    elif pa.types.is_nested(arrow):
        for index in range(arrow.num_fields):
            check_levels(arrow.field(index).type, level + 1, parameters, where)


def check_escape(parameters: LazyParameters, start: int, end: int, where: str) -> None:
    """Refuses an escape that is one of the separators from one level up to another.

    Raises:
        NotSupportedError: It is so; Hive then takes it for this or that, by what comes before it.
    """
    if parameters.escape is not None and parameters.escape in parameters.separators[start:end]:
        raise NotSupportedError(
            f"{where} has {parameters.escape!r} as escape.delim and as a separator, which look the same; leave "
            "escape.delim out",
            error_codes.HIVE_UNSUPPORTED_FORMAT,
        )


def decode_texts(
    texts: pa.Array, target: pa.DataType, parameters: LazyParameters, hidden: HiddenEscapes, level: int
) -> pa.Array:
    """Decodes texts whose escapes are hidden; otherwise as ``decode_column``, but that levels are not checked."""
    is_null = pc.equal(texts, hidden.null)
    if bool(pc.any(is_null, min_count=0).as_py()):
        texts = real_nulls(texts, pc.invert(is_null))
    if pa.types.is_map(target):
        return _decode_maps(texts, target, parameters, hidden, level)
    if pa.types.is_list(target):
        values, offsets = _elements(texts, parameters.separators[level : level + 1])
        children = decode_texts(values, target.value_type, parameters, hidden, level + 1)
        return pa.ListArray.from_arrays(offsets, children, type=target, mask=_nulls(texts))
    if is_union_struct(target):
        return _decode_unions(texts, target, parameters, hidden, level)
    if pa.types.is_struct(target):
        separator = parameters.separators[level : level + 1]
        fields = split_fields(texts, separator, target.num_fields, range(target.num_fields), rest=parameters.rest)
        pairs = zip(fields, target, strict=True)
        parts = [decode_texts(part, field.type, parameters, hidden, level + 1) for part, field in pairs]
        return pa.StructArray.from_arrays(parts, fields=list(target), mask=_nulls(texts))
    if pa.types.is_string(target):
        return as_strings(hidden.without_escapes(texts))
    written = hidden.as_written(texts)
    if pa.types.is_binary(target):
        return parse_base64(written)
    return _parse(as_strings(written), target, parameters)


def _parse(texts: pa.Array, target: pa.DataType, parameters: LazyParameters) -> pa.Array:
    if pa.types.is_date(target):
        return parse_dates(texts)
    if pa.types.is_timestamp(target):
        return parameters.timestamps(texts) if target.tz is None else parameters.instants(texts, parameters.zone)
    if pa.types.is_integer(target):
        return parse_integers(texts, target)
    if pa.types.is_floating(target):
        return parse_floats(texts, target)
    if pa.types.is_decimal(target):
        return parse_decimals(texts, target)
    if pa.types.is_boolean(target):
        return parse_booleans(texts, target)
    raise NotSupportedError(
        f"texts cannot be read as {target}; leave the column out", error_codes.HIVE_UNSUPPORTED_TYPE
    )


def _decode_maps(
    texts: pa.Array, target: pa.DataType, parameters: LazyParameters, hidden: HiddenEscapes, level: int
) -> pa.Array:
    entries, offsets = _elements(texts, parameters.separators[level : level + 1])
    # Behind the first separator of an entry all is its value.
    keys, values = split_fields(entries, parameters.separators[level + 1 : level + 2], 2, (0, 1), rest=True)
    keys = decode_texts(keys, target.key_type, parameters, hidden, level + 2)
    kept = first_keys(keys, offsets)
    if not kept.all():
        mask = pa.array(kept)
        keys, values = keys.filter(mask), values.filter(mask)
        offsets = np.concatenate(([0], np.cumsum(kept)))[offsets].astype(np.int32)
    items = decode_texts(values, target.item_type, parameters, hidden, level + 2)
    return pa.MapArray.from_arrays(pa.array(offsets), keys, items, type=target, mask=_nulls(texts))


def _decode_unions(
    texts: pa.Array, target: pa.DataType, parameters: LazyParameters, hidden: HiddenEscapes, level: int
) -> pa.Array:
    branches = list(target)[1:]
    tags, values = cut_unions(texts, parameters.separators[level : level + 1], len(branches), hidden, parameters.where)
    is_null = texts.is_null()
    fields = [pa.array(tags, pa.int8(), mask=is_null.to_numpy(zero_copy_only=False))]
    for index, branch in enumerate(branches):
        mine = pc.and_(pa.array(tags == index), pc.invert(is_null))
        found = decode_texts(values.filter(mine), branch.type, parameters, hidden, level + 1)
        fields.append(spread(found, mine.to_numpy(zero_copy_only=False)))
    return pa.StructArray.from_arrays(fields, fields=list(target), mask=_nulls(texts))


def _elements(texts: pa.Array, separator: bytes) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    """The elements of all texts one behind the other, and where each text's begin; an empty text has none."""
    pieces = pc.split_pattern(texts, separator)
    offsets = np.frombuffer(pieces.buffers()[1], np.int32)[pieces.offset : pieces.offset + len(pieces) + 1]
    empty = pc.fill_null(pc.equal(pc.binary_length(texts), 0), False).to_numpy(zero_copy_only=False)
    values = pieces.values
    if not empty.any():
        return values, offsets
    kept = np.ones(len(values), bool)
    kept[offsets[:-1][empty]] = False
    shifted = np.concatenate(([0], np.cumsum(np.diff(offsets) * ~empty))).astype(np.int32)
    return values.filter(pa.array(kept)), shifted


def _nulls(texts: pa.Array) -> pa.Array | None:
    return texts.is_null() if texts.null_count else None
