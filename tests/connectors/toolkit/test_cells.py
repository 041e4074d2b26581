"""Values of Arrow arrays as one stretch of bytes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from connectors.toolkit.cells import value_bytes


@pytest.mark.parametrize("arrow", [pa.binary(), pa.string()])
def test_bytes_of_values_are_those_of_the_slice_alone(arrow: pa.DataType) -> None:
    words = ["one", "", None, "zwölf", "x"]
    array = pa.array(words, arrow)
    for start in range(len(words) + 1):
        for length in range(len(words) - start + 1):
            expected = "".join(word or "" for word in words[start : start + length]).encode()
            assert value_bytes(array.slice(start, length)) == expected
    assert value_bytes(pa.nulls(3, arrow)) == b""
