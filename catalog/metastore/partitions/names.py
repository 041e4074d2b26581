"""Names of partitions, such as ``ds=2024-01-01/region=a%2Fb`` (Hive's ``FileUtils`` and ``Warehouse``).

A name is also the path of a partition below its table, unless the partition has a location of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING

import pyarrow as pa

from connector_spi.errors import ErrorCode, ErrorType, MetastoreError
from connector_spi.partition_names import DEFAULT_PARTITION, escape_path_name, unescape_path_name

if TYPE_CHECKING:
    from connector_spi.predicate import Domain, TupleDomain, Value

__all__ = [
    "in_batches",
    "make_partition_name",
    "parse_partition_name",
    "partition_values",
    "prune_partition_names",
]

_BAD_NAME = ErrorCode("METASTORE_BAD_PARTITION_NAME", ErrorType.EXTERNAL)
"""The name of a partition is not made of ``key=value`` parts. Drop the partition in Hive."""


def parse_partition_name(name: str) -> tuple[tuple[str, str], ...]:
    """Splits a name into its keys and values, unescaped, in order.

    Raises:
        MetastoreError: A part has no ``=``.
    """
    pairs = []
    for part in name.split("/"):
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise MetastoreError(f"cannot read the partition name {name!r}: expected key=value parts", _BAD_NAME)
        pairs.append((unescape_path_name(key), unescape_path_name(value)))
    return tuple(pairs)


def partition_values(name: str) -> tuple[str, ...]:
    """The values of a name, unescaped, in order, by which its partition's entry is found.

    Raises:
        MetastoreError: A part has no ``=``.
    """
    return tuple([value for _, value in parse_partition_name(name)])


def in_batches(names: Iterable[str], size: int) -> Iterator[list[str]]:
    """The names in lists of ``size``, the last one maybe shorter."""
    remaining = iter(names)
    while batch := list(islice(remaining, size)):
        yield batch


def make_partition_name(keys: Sequence[str], values: Sequence[str]) -> str:
    """Joins keys and values to a name, escaped; keys become lower case, as Hive does.

    Raises:
        MetastoreError: There are not as many values as keys.
    """
    if len(keys) != len(values):
        raise MetastoreError(f"{len(values)} values for the partition keys {', '.join(keys)}: {values}", _BAD_NAME)
    pairs = zip(keys, values, strict=True)
    return "/".join(f"{escape_path_name(key.lower())}={escape_path_name(value)}" for key, value in pairs)


def prune_partition_names(names: Iterable[str], predicate: TupleDomain[str]) -> list[str]:
    """The names that may hold rows of which ``predicate`` is true, in the given order.

    Each value is read as its domain's type. One that cannot be read for sure is kept, and so is the default
    partition wherever NULL or its own text is allowed. Each distinct value of a key is looked at once.

    Args:
        names: Names of partitions of one table.
        predicate: Domains by lower-case name of the key.
    """
    if predicate.is_none:
        return []
    domains = predicate.domains
    if not domains:
        return list(names)
    tests = {key: _test_of(domain) for key, domain in domains.items()}
    verdicts: dict[str, bool] = {}
    return [name for name in names if _may_match(name, tests, verdicts)]


def _may_match(name: str, tests: Mapping[str, Callable[[str], bool]], verdicts: dict[str, bool]) -> bool:
    for part in name.split("/"):
        verdict = verdicts.get(part)
        if verdict is None:
            key, equals, value = part.partition("=")
            test = tests.get(unescape_path_name(key).lower()) if equals else None
            verdict = verdicts[part] = test is None or test(unescape_path_name(value))
        if not verdict:
            return False
    return True


def _test_of(domain: Domain) -> Callable[[str], bool]:
    """A function that says whether the domain may include a value of this text."""
    arrow = domain.type
    if pa.types.is_string(arrow):
        # Hive reads the default partition of a text key as that very text, other engines as NULL.
        includes = _text_test(domain)
        return lambda text: (text == DEFAULT_PARTITION and domain.null_allowed) or includes(text)
    read = next((read for matches, read in _READERS if matches(arrow)), None)

    def test(text: str) -> bool:
        if text == DEFAULT_PARTITION:
            return domain.null_allowed
        value = None if read is None else read(text.strip(), arrow)
        return value is None or domain.includes_value(value)

    return test


def _text_test(domain: Domain) -> Callable[[str], bool]:
    # Comparing char(n) does not see blanks at the end, and char(n) and string look the same here.
    ranges = domain.values.ranges()
    bounds = [bound for one in ranges or () for bound in (one.low, one.high)]
    if ranges is None or any(isinstance(bound, str) and bound.endswith(" ") for bound in bounds):
        return lambda _: True
    return lambda text: domain.includes_value(text) or domain.includes_value(text.rstrip(" "))


# Each reads a value's text as an Arrow type. Text in a doubtful form gives None: engines read it as NULL or not at all.


def _read_boolean(text: str, _: pa.DataType) -> Value | None:
    return {"true": True, "false": False}.get(text.lower())


def _read_integer(text: str, arrow: pa.DataType) -> Value | None:
    if re.fullmatch("[+-]?[0-9]{1,20}", text) is None:
        return None
    value = int(text)
    limit = 1 << (arrow.bit_width - 1)
    return value if -limit <= value < limit else None


def _read_decimal(text: str, arrow: pa.DataType) -> Value | None:
    match = re.fullmatch(r"[+-]?0*([0-9]*)(?:\.([0-9]*?)0*)?", text)
    if match is None or not re.search("[0-9]", text):
        return None
    fits = len(match.group(1)) <= arrow.precision - arrow.scale and len(match.group(2) or "") <= arrow.scale
    return Decimal(text) if fits else None


def _read_date(text: str, _: pa.DataType) -> Value | None:
    return _from_iso(date.fromisoformat, text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) else None


def _read_timestamp(text: str, arrow: pa.DataType) -> Value | None:
    plain = re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?", text, re.ASCII)
    if plain is None or arrow.tz is not None:
        return None
    fraction = plain.group(1) or "."
    return _from_iso(datetime.fromisoformat, text.removesuffix(fraction) + fraction.ljust(7, "0"))


def _from_iso(read: Callable[[str], Value], text: str) -> Value | None:
    try:
        return read(text)
    except ValueError:
        return None


_READERS: list[tuple[Callable[[pa.DataType], bool], Callable[[str, pa.DataType], Value | None]]] = [
    (pa.types.is_boolean, _read_boolean),
    (pa.types.is_integer, _read_integer),
    (pa.types.is_decimal, _read_decimal),
    (pa.types.is_date, _read_date),
    (pa.types.is_timestamp, _read_timestamp),
]
