"""Hive's ``MultiDelimitSerDe``: columns between a text of several characters. Executor side."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.lazy.parameters import lazy_parameters, to_utf8
from connectors.hive.formats.lazy.regular_fields import split_fields
from connectors.hive.formats.lazy.texts import check_levels, decode_column
from connectors.hive.formats.row_serde import RowDecoder, RowLayout, RowSerDe

__all__ = ["MultiDelimitSerDe"]


class MultiDelimitSerDe(RowSerDe):
    """``field.delim`` of any length; inside of columns all is as in ``LazySimpleSerDe``.

    An escape does not take the meaning off a delimiter, fields that are too many are left out
    (``LazyStruct.parseMultiDelimit``), and Hive ignores ``timestamp.formats``.
    """

    classes = frozenset(
        {
            "org.apache.hadoop.hive.serde2.MultiDelimitSerDe",
            "org.apache.hadoop.hive.contrib.serde2.MultiDelimitSerDe",
        }
    )
    unions = True

    def decoder(self, layout: RowLayout) -> RowDecoder:
        delimiter = layout.properties.get("field.delim", "").encode()
        if not delimiter:
            raise NotSupportedError(
                f"{layout.where} has no field.delim, which MultiDelimitSerDe needs; set it in the SerDe's properties",
                error_codes.HIVE_UNSUPPORTED_FORMAT,
            )
        properties = {key: value for key, value in layout.properties.items() if key != "timestamp.formats"}
        parameters = lazy_parameters(properties, layout.zone, layout.where)
        types = layout.declared.types
        for arrow in types:
            check_levels(arrow, 1, parameters, layout.where)

        def decode(records: pa.Array) -> Sequence[pa.Array]:
            lines = to_utf8(records, parameters.charset)
            fields = split_fields(lines, delimiter, len(types), layout.wanted)
            return [
                decode_column(field, types[at], parameters) for at, field in zip(layout.wanted, fields, strict=True)
            ]

        return decode
