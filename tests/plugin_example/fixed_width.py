"""A SerDe for the hive connector: columns of fixed widths, told by the property ``widths``."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.hive.formats.row_serde import RowDecoder, RowLayout, RowSerDe


class FixedWidthSerDe(RowSerDe):
    """``ROW FORMAT SERDE 'com.acme.FixedWidthSerDe' WITH SERDEPROPERTIES ('widths'='3,10')``."""

    spi_version = 2
    classes = frozenset({"com.acme.FixedWidthSerDe"})

    def decoder(self, layout: RowLayout) -> RowDecoder:
        widths = [int(text) for text in layout.properties.get("widths", "").split(",") if text]
        if len(widths) != len(layout.declared) or not all(map(pa.types.is_string, layout.declared.types)):
            raise NotSupportedError(f"{layout.where} needs a width for each column, all of them strings")
        starts = [sum(widths[:at]) for at in range(len(widths))]

        def decode(records: pa.Array) -> Sequence[pa.Array]:
            texts = records.cast(pa.string())
            return [
                pc.utf8_rtrim(pc.utf8_slice_codeunits(texts, starts[at], starts[at] + widths[at]), " ")
                for at in layout.wanted
            ]

        return decode
