"""What fastavro and polars raise about bytes that are no Avro, or damaged."""

from __future__ import annotations

import struct
import zlib

from fastavro.schema import SchemaParseException, UnknownType

__all__ = ["AVRO_ERRORS", "polars_errors"]

AVRO_ERRORS: tuple[type[Exception], ...] = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    RecursionError,
    SchemaParseException,
    StopIteration,
    TypeError,
    UnknownType,
    ValueError,
    struct.error,
    zlib.error,
)
"""A length that is damaged asks for more memory than there is, so MemoryError is one of them."""


def polars_errors() -> tuple[type[BaseException], ...]:
    """The errors of polars."""
    from polars.exceptions import PanicException, PolarsError  # slow to import, and needed where polars was

    return PolarsError, PanicException
