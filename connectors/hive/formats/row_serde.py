"""SerDes that decode one record at a time: what text files and SequenceFiles hold. Executor side.

A plugin adds one through the entry point group ``lakeport.hive.serdes``: a class without arguments, or an object, of
``RowSerDe``. It has to be installed where the tasks run, too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

__all__ = ["RowDecoder", "RowLayout", "RowSerDe"]

RowDecoder = Callable[[pa.Array], Sequence[pa.Array]]
"""From records (Arrow ``binary``, no NULLs, maybe a slice) to the wanted columns, in the order of ``wanted``."""


@dataclass(frozen=True, slots=True)
class RowLayout:
    """A file, as a SerDe sees it.

    Attributes:
        declared: All columns in order, of Arrow's types: ``char`` and ``varchar`` are strings (padded and cut later),
            ``timestamp`` is ``timestamp[us]``, ``timestamp with local time zone`` is ``timestamp[us, UTC]``.
        wanted: Positions of the columns that are asked.
        properties: The SerDe's and the table's properties.
        zone: The session's time zone.
        where: Names the file, or the table, for messages.
        binary_zone: Zone in which the writer of binary SerDes took timestamps for instants; ``UTC`` for Hive since 3.1.
    """

    declared: pa.Schema
    wanted: tuple[int, ...]
    properties: Mapping[str, str]
    zone: str
    where: str
    binary_zone: str = "UTC"


class RowSerDe(ABC):
    """Decodes records.

    Attributes:
        classes: Java classes that it stands for.
        unions: Columns of ``uniontype`` are read, as structs (``connectors.toolkit.schema.union_structs``); else a
            table that has one is refused.
        texts_only: It gives texts whatever a table declares, so that all of its columns are strings to Hive.
        spi_version: As ``connector_spi.ConnectorFactory.spi_version``; each plugin has one.
    """

    spi_version: ClassVar[int]
    classes: ClassVar[frozenset[str]]
    unions: ClassVar[bool] = False
    texts_only: ClassVar[bool] = False

    @abstractmethod
    def decoder(self, layout: RowLayout) -> RowDecoder:
        """The function for the records of one file. Called on the driver too, to refuse before a query runs.

        Raises:
            NotSupportedError: A property or a type is not understood.
        """
