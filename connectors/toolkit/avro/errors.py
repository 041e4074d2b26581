"""What fastavro raises about bytes that are no Avro, or damaged."""

from __future__ import annotations

import struct
import zlib

from fastavro.schema import SchemaParseException, UnknownType

__all__ = ["AVRO_ERRORS"]

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
