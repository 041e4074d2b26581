"""Which columns of a new ORC file have Bloom filters. Both sides."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.hive.formats.file_storage import FileStorage

__all__ = ["BloomFilters"]

_COLUMNS, _FPP = "orc.bloom.filter.columns", "orc.bloom.filter.fpp"
_DEFAULT_FPP = "0.01"
"""``OrcConf.BLOOM_FILTER_FPP``."""


@dataclass(frozen=True, slots=True)
class BloomFilters:
    """Bloom filters of a file.

    Attributes:
        type_ids: The columns, by the numbers of their types: the row is 0, and each type comes before those in it.
        fpp: The share of false positives.
    """

    type_ids: tuple[int, ...]
    fpp: float

    @classmethod
    def of(cls, storage: FileStorage, columns: pa.Schema, where: str) -> BloomFilters:
        """Those that a table's properties ask for.

        Raises:
            NotSupportedError: They name no columns of the table, or no share.
        """
        properties = {key.lower(): value for key, value in storage.properties}
        wanted = [name.strip().lower() for name in properties.get(_COLUMNS, "").split(",") if name.strip()]
        ids, number = {}, 1
        for column in columns:
            ids[column.name.lower()] = number
            number += 1 + _inner_types(column.type)
        unknown = [name for name in wanted if name not in ids]
        if unknown:
            raise NotSupportedError(f"{where}: {_COLUMNS} names '{unknown[0]}', which is none of {', '.join(ids)}")
        text = properties.get(_FPP, _DEFAULT_FPP)
        try:
            fpp = float(text)
        except ValueError:
            fpp = -1.0
        if not 0 < fpp < 1:
            raise NotSupportedError(f"{where}: {_FPP} is {text}; expected a number between 0 and 1")
        return cls(tuple(ids[name] for name in wanted), fpp)


def _inner_types(data_type: pa.DataType) -> int:
    if pa.types.is_map(data_type):
        return 2 + _inner_types(data_type.key_type) + _inner_types(data_type.item_type)
    inner = [data_type.field(index).type for index in range(data_type.num_fields)]
    return sum(1 + _inner_types(one) for one in inner)
