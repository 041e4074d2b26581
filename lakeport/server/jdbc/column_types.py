"""Types of columns as JDBC names them (``java.sql.Types``), with the sizes that Hive gives."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.schema import ColumnMetadata
from lakeport.type_names import simple_name, type_name

__all__ = ["JdbcType", "jdbc_type"]

_TEXT = re.compile(r"(char|varchar)\((\d+)\)")


@dataclass(frozen=True, slots=True)
class JdbcType:
    """What ``getColumns`` says of a type.

    Attributes:
        code: The constant of ``java.sql.Types``.
        size: Digits of a number, letters of a text or a time; ``None`` where there is no bound.
        digits: Digits after the point; ``None`` where it has no point.
        radix: Of the digits; ``None`` where it is no number.
    """

    code: int
    size: int | None = None
    digits: int | None = None
    radix: int | None = None


# Sizes: org.apache.hive.service.rpc.thrift / Type.getMaxPrecision of Hive 2.3; Spark's timestamps have microseconds.
_TYPES = {
    "void": JdbcType(0),
    "boolean": JdbcType(16),
    "tinyint": JdbcType(-6, 3, 0, 10),
    "smallint": JdbcType(5, 5, 0, 10),
    "int": JdbcType(4, 10, 0, 10),
    "bigint": JdbcType(-5, 19, 0, 10),
    "float": JdbcType(6, 7, 7, 10),
    "double": JdbcType(8, 15, 15, 10),
    "string": JdbcType(12),
    "binary": JdbcType(-2),
    "date": JdbcType(91, 10),
    "timestamp": JdbcType(93, 29, 6),
    "timestamp_ntz": JdbcType(93, 29, 6),
}
_OTHER = JdbcType(1111)
_DECIMAL, _ARRAY, _MAP, _STRUCT = 3, 2003, 2000, 2002
_TEXT_CODES = {"char": 1, "varchar": 12}


def jdbc_type(column: ColumnMetadata) -> JdbcType:
    """What JDBC knows of the type of a column."""
    text = _TEXT.fullmatch(type_name(column).lower())
    if text is not None:
        return JdbcType(_TEXT_CODES[text[1]], int(text[2]))
    types, arrow = pa.types, column.type
    if types.is_dictionary(arrow):
        arrow = arrow.value_type
    if types.is_decimal(arrow):
        return JdbcType(_DECIMAL, arrow.precision, arrow.scale, 10)
    if types.is_struct(arrow):
        return JdbcType(_STRUCT)
    if types.is_map(arrow):
        return JdbcType(_MAP)
    if types.is_list(arrow) or types.is_large_list(arrow) or types.is_fixed_size_list(arrow):
        return JdbcType(_ARRAY)
    return _TYPES.get(simple_name(arrow) or "", _OTHER)
