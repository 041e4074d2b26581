"""A sound file is not called damaged for what this code or pyarrow cannot do."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from connector_spi.errors import ConnectorError, CorruptFileError, NotSupportedError, ResourceError
from connector_spi.handles import ColumnHandle
from connectors.toolkit.parquet.reader import parquet_page_source
from connectors.toolkit.read.file_read import FileRead
from connectors.toolkit.schema.time_casts import ArrayFunction
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.schema.type_adaptation import CastRules
from connectors.toolkit.storage.decoding_errors import decoding_errors, library_limits
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.toolkit.reads import whole_file

_ID = ColumnHandle("id", pa.int64())


def test_a_function_that_arrow_lacks_is_no_damage(tmp_path: Path) -> None:
    def rule(source: pa.DataType, target: pa.DataType, conventions: TimeConventions, where: str) -> ArrayFunction:
        return pc.utf8_trim_whitespace  # type: ignore[no-any-return]

    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"id": [1]}), path)
    read = FileRead(whole_file(path, (_ID,)).file, (_ID,), rules=CastRules(rule))
    with (
        parquet_page_source(FileSystem(), read) as pages,
        pytest.raises(pa.ArrowNotImplementedError, match="no kernel"),
    ):
        next(pages)


def test_a_codec_that_arrow_lacks_is_named(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"id": [1]}), path, compression="snappy")
    content = path.read_bytes()
    # ColumnMetaData: the column's path, then the codec, a zigzag number; 3 is LZO.
    snappy = b"\x02id\x15\x02"
    assert content.count(snappy) == 1
    path.write_bytes(content.replace(snappy, b"\x02id\x15\x06"))
    with (
        parquet_page_source(FileSystem(), whole_file(path, (_ID,))) as pages,
        pytest.raises(NotSupportedError, match=r"f\.parquet cannot be read as Parquet: pyarrow .*LZO") as caught,
    ):
        next(pages)
    assert not isinstance(caught.value, CorruptFileError)


@pytest.mark.parametrize(
    ("met", "expected"),
    [
        (pa.ArrowInvalid("bad page"), CorruptFileError),
        (OSError("bad page"), CorruptFileError),
        (pa.ArrowMemoryError("malloc of size 5 failed"), ResourceError),
        (EOFError("cut"), CorruptFileError),
    ],
)
def test_what_bytes_cause(met: Exception, expected: type[ConnectorError]) -> None:
    with pytest.raises(expected, match=r"/t/f cannot be read"), decoding_errors("/t/f", "Avro", EOFError):
        raise met


@pytest.mark.parametrize("met", [pa.ArrowNotImplementedError("x"), pa.ArrowTypeError("x"), pa.ArrowKeyError("x")])
def test_what_no_file_causes(met: Exception) -> None:
    with pytest.raises(type(met)), decoding_errors("/t/f", "Avro"):
        raise met


@pytest.mark.parametrize("met", [pa.ArrowCapacityError("x"), OSError("Not yet implemented: x")])
def test_what_the_decoder_cannot_do(met: Exception) -> None:
    with pytest.raises(NotSupportedError, match=r"/t/f cannot be read as ORC"), library_limits("/t/f", "ORC"):
        raise met


def test_storage_that_fails_is_no_limit() -> None:
    with pytest.raises(PermissionError), library_limits("/t/f", "ORC"):
        raise PermissionError(13, "Not yet implemented")
