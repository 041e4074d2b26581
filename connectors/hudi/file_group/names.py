"""Names of data files (FSUtils, HoodieLogFile)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from connector_spi.serializable import Serializable

__all__ = ["BaseFileName", "LogFileName", "looks_like_data", "parse_base_file_name", "parse_log_file_name"]

_BASE = re.compile(r"([^_/]+)_([^_/]*)_(\d+)\.(parquet|orc|hfile|lance)")
_LOG = re.compile(r"\.([^_/]+)_(\d+)\.log\.(\d+)(?:_(\d+-\d+-\d+)(\.cdc)?)?")
_DATA_EXTENSIONS = (".parquet", ".orc", ".hfile", ".lance")
_EXTERNAL_MARK = "_hudiext"


@dataclass(frozen=True, slots=True)
class BaseFileName(Serializable):
    """``<file id>_<write token>_<instant>.<format>``.

    Attributes:
        file_id: Id of the file group.
        write_token: Task attempt that wrote the file, such as ``0-12-34``.
        instant: Requested time of the write.
        format: ``parquet``, ``orc``, ``hfile`` or ``lance``.
    """

    file_id: str
    write_token: str
    instant: str
    format: str


@dataclass(frozen=True, slots=True)
class LogFileName(Serializable):
    """``.<file id>_<instant>.log.<version>_<write token>[.cdc]``.

    Attributes:
        file_id: Id of the file group.
        instant: Layout 1: base instant of the slice that the log belongs to. Layout 2: requested time of the delta
            commit that wrote it.
        version: Number of the log in its slice.
        write_token: As of a base file; empty before Hudi 0.5.
        change_data: A log for change queries (``.cdc``), which holds no rows of the table.
    """

    file_id: str
    instant: str
    version: int
    write_token: str
    change_data: bool


def parse_base_file_name(name: str) -> BaseFileName | None:
    """Reads the name of a base file; ``None`` for another name."""
    match = _BASE.fullmatch(name)
    return BaseFileName(*match.groups()) if match else None


def parse_log_file_name(name: str) -> LogFileName | None:
    """Reads the name of a log file; ``None`` for another name."""
    match = _LOG.fullmatch(name)
    if match is None:
        return None
    file_id, instant, version, token, cdc = match.groups()
    return LogFileName(file_id, instant, int(version), token or "", cdc is not None)


def looks_like_data(name: str) -> bool:
    """Whether a file that has neither kind of name may hold rows all the same.

    Such are files of external writers (``<name>_<instant>_hudiext``) and logs of an unknown naming.
    """
    if name.startswith("."):
        return ".log." in name and not name.endswith(".crc")
    return not name.startswith("_") and (name.endswith(_DATA_EXTENSIONS) or _EXTERNAL_MARK in name)
