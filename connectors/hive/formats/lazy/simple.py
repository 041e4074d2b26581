"""Hive's ``LazySimpleSerDe``: texts with a separator for each level of nesting. Executor side."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from connectors.hive.formats.lazy.hidden_escapes import HiddenEscapes
from connectors.hive.formats.lazy.parameters import lazy_parameters, to_utf8
from connectors.hive.formats.lazy.regular_fields import split_fields
from connectors.hive.formats.lazy.texts import check_escape, check_levels, decode_texts
from connectors.hive.formats.row_serde import RowDecoder, RowLayout, RowSerDe

__all__ = ["LazySimpleSerDe"]


class LazySimpleSerDe(RowSerDe):
    """``ROW FORMAT DELIMITED``."""

    classes = frozenset({"org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"})
    unions = True

    def decoder(self, layout: RowLayout) -> RowDecoder:
        parameters = lazy_parameters(layout.properties, layout.zone, layout.where)
        check_escape(parameters, 0, 1, layout.where)
        types = layout.declared.types
        for arrow in types:
            check_levels(arrow, 1, parameters, layout.where)
        count = len(types)

        def decode(records: pa.Array) -> Sequence[pa.Array]:
            hidden, records = HiddenEscapes.of(to_utf8(records, parameters.charset), parameters)
            fields = split_fields(records, parameters.separators[:1], count, layout.wanted, rest=parameters.rest)
            return [
                decode_texts(field, types[at], parameters, hidden, 1)
                for at, field in zip(layout.wanted, fields, strict=True)
            ]

        return decode
