"""Writers of ORC files are freed when they are done, or have failed."""

from __future__ import annotations

import gc
import weakref

import pyarrow as pa
import pytest

from connectors.hive.write.handles import AcidWrite
from connectors.hive.write.sink.acid_file import AcidFileWriter
from connectors.hive.write.sink.orc_output import OrcOutput, OrcWriter

_ROWS = pa.table({"id": [1, 2, 3]})


class _FullDisk(OrcOutput):
    def _put(self, chunk: memoryview) -> None:
        raise OSError(28, "No space left on device")


def _is_freed(output: weakref.ref[OrcOutput]) -> bool:
    gc.collect()
    return output() is None


@pytest.mark.slow
@pytest.mark.parametrize("closes", [True, False])
def test_a_writer_of_rows_with_ids_is_freed(closes: bool) -> None:
    writer = AcidFileWriter(pa.BufferOutputStream(), "f", AcidWrite(1, 0, row_ids=True), 0, "zlib")
    writer.write(_ROWS)
    if closes:
        writer.close()
    kept: weakref.ref[OrcOutput] = weakref.ref(writer._tail)
    del writer
    assert _is_freed(kept)


def test_a_writer_that_failed_is_freed_and_goes_on_failing() -> None:
    output = _FullDisk(pa.BufferOutputStream())
    writer = OrcWriter(output, compression="zlib")
    with pytest.raises(OSError, match="No space left"):
        writer.write(_ROWS)
    with pytest.raises(OSError, match="has failed before"):
        output.check()
    kept: weakref.ref[OrcOutput] = weakref.ref(output)
    del writer, output
    assert _is_freed(kept)
