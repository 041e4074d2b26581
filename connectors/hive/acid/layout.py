"""Names of folders and files of transactional tables, and the bucket property (``AcidUtils``, ``BucketCodec``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from connector_spi.errors import CorruptFileError, NotSupportedError
from connector_spi.plain_data import PlainData
from connectors.hive import error_codes

__all__ = [
    "BASE_BEFORE_TRANSACTIONS",
    "FLUSH_LENGTH_SUFFIX",
    "METADATA_FILE",
    "AcidDirectory",
    "DirectoryKind",
    "bucket_ids",
    "bucket_of_file",
    "bucket_property",
    "is_acid_file_name",
    "is_directory_name",
    "is_flush_length_file",
    "is_original_name",
    "parse_directory",
]

BASE_BEFORE_TRANSACTIONS = -(2**63)
"""The base that the first major compaction of a converted table writes where nothing was written since."""

METADATA_FILE = "_metadata_acid"
FLUSH_LENGTH_SUFFIX = "_flush_length"

_MAX_LONG = 2**63 - 1
_MAX_BUCKET = _MAX_STATEMENT = 4095
_PREFIXES = ("base_", "delta_", "delete_delta_")
_BASE = re.compile(r"base_(-?[0-9]+)(?:_v([0-9]+))?")
_DELTA = re.compile(r"(delta|delete_delta)_([0-9]+)_([0-9]+)(?:_([0-9]+))?(?:_v([0-9]+))?")
_BUCKET = re.compile(r"bucket_([0-9]+)(?:_[0-9]+)?")
_ORIGINAL = re.compile(r"([0-9]+)_[0-9]+(?:_copy_[0-9]+)?")


class DirectoryKind(Enum):
    """What a folder of a transactional table holds."""

    BASE = "base"
    DELTA = "delta"
    DELETE_DELTA = "delete_delta"


@dataclass(frozen=True, slots=True)
class AcidDirectory(PlainData):
    """A folder of a transactional table, by its name.

    Attributes:
        kind: What it holds.
        first: The smallest write id in it; of a base, the same as ``last``.
        last: The greatest write id in it.
        statement: Number of the statement in its transaction; -1 where the name has none.
        visibility: The transaction of the compaction that wrote it; 0 where it is no compaction of Hive 4.
        name: The folder's name.
    """

    kind: DirectoryKind
    first: int
    last: int
    statement: int
    visibility: int
    name: str


def parse_directory(name: str) -> AcidDirectory | None:
    """Reads a folder's name; ``None`` where it is no folder of a transactional table.

    Raises:
        NotSupportedError: The name begins as one of a transactional table, and goes on in an unknown way.
    """
    if not name.startswith(_PREFIXES):
        return None
    base = _BASE.fullmatch(name)
    if base is not None:
        last = int(base.group(1))
        directory = AcidDirectory(
            kind=DirectoryKind.BASE, first=last, last=last, statement=-1, visibility=int(base.group(2) or 0), name=name
        )
    else:
        delta = _DELTA.fullmatch(name)
        if delta is None:
            raise _unknown_name(name)
        kind, first, end, statement, visibility = delta.groups()
        directory = AcidDirectory(
            kind=DirectoryKind(kind),
            first=int(first),
            last=int(end),
            statement=int(statement or -1),
            visibility=int(visibility or 0),
            name=name,
        )
    known = directory.last == BASE_BEFORE_TRANSACTIONS or 0 <= directory.last <= _MAX_LONG
    if not known or directory.first > directory.last:
        raise _unknown_name(name)
    return directory


def is_directory_name(name: str) -> bool:
    """Whether a name is wholly one of a folder of a transactional table."""
    return _BASE.fullmatch(name) is not None or _DELTA.fullmatch(name) is not None


def is_flush_length_file(name: str) -> bool:
    """Whether a file tells how much of another is committed, and holds no rows."""
    return name.endswith(FLUSH_LENGTH_SUFFIX)


def is_acid_file_name(name: str) -> bool:
    """Whether a file is called as one that Hive's ACID writers make, with the attempt's number or without."""
    return _BUCKET.fullmatch(name) is not None


def is_original_name(name: str) -> bool:
    """Whether a file is called as Hive calls files without ACID columns: ``000000_0``, ``000000_0_copy_1``."""
    return _ORIGINAL.fullmatch(name) is not None


def bucket_of_file(name: str) -> int:
    """The bucket that a file's name tells (``AcidUtils.parseBucketId``), or -1."""
    match = _BUCKET.fullmatch(name) or _ORIGINAL.fullmatch(name)
    return -1 if match is None else int(match.group(1))


def bucket_property(bucket: int, statement: int, path: str) -> int:
    """The bucket property of rows, in the form of Hive 3 and later.

    Args:
        bucket: 0 to 4095.
        statement: 0 to 4095; -1 is written as 0.
        path: The file that the rows are of.

    Raises:
        NotSupportedError: A number does not fit.
    """
    if not 0 <= bucket <= _MAX_BUCKET or not -1 <= statement <= _MAX_STATEMENT:
        raise NotSupportedError(
            f"the rows of {path} cannot be given row ids: bucket {bucket} and statement {statement}, as its name and "
            f"its folder's are, fit in none of Hive's; expected at most {_MAX_BUCKET} each: rewrite the table",
            error_codes.HIVE_ACID_LAYOUT,
        )
    return 1 << 29 | bucket << 16 | max(statement, 0)


def bucket_ids(values: npt.NDArray[np.int64], path: str) -> npt.NDArray[np.int64]:
    """The bucket in each bucket property of an array, of either version.

    Args:
        values: The properties.
        path: The file that they are of.

    Raises:
        CorruptFileError: A property is of an unknown version.
    """
    versions = values >> 29
    unknown = (versions != 0) & (versions != 1)
    if unknown.any():
        value = int(values[unknown][0])
        raise CorruptFileError(
            f"{path} holds a row with the bucket property {value}, of version {value >> 29 & 7}: expected 0 or 1",
            error_codes.HIVE_ACID_LAYOUT,
        )
    return np.where(versions == 0, values, values >> 16 & 0xFFF)


def _unknown_name(name: str) -> NotSupportedError:
    return NotSupportedError(
        f"the folder {name!r} is called as one of a transactional table, and cannot be understood: expected "
        "base_ID, delta_ID_ID or delete_delta_ID_ID, with _STATEMENT and _vTRANSACTION behind it",
        error_codes.HIVE_ACID_LAYOUT,
    )
