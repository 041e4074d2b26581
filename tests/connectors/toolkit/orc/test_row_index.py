"""Row groups of ORC stripes: statistics and Bloom filters of files that Arrow and pyorc wrote."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pyorc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import orc

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, Range, TupleDomain, Value, ValueSet
from connectors.toolkit.orc.reader import orc_page_source
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.toolkit.reads import whole_file
from tests.sampling import examples

_STRIDE = 1000
_VALUES: dict[pa.DataType, st.SearchStrategy[Value]] = {
    pa.int8(): st.integers(-128, 127),
    pa.int32(): st.integers(-50, 50) | st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-50, 50) | st.integers(-(2**63), 2**63 - 1),
    pa.string(): st.text(max_size=9) | st.sampled_from(["", "ä" * 20, "x" * 2000, "\U0001f600"]),
    pa.date32(): st.dates(date(1500, 1, 1), date(9999, 1, 1)),
}


def _write(path: Path, values: Sequence[object], kind: pa.DataType, compression: str = "zstd") -> None:
    orc.write_table(
        pa.table({"v": pa.array(values, kind)}),
        str(path),
        row_index_stride=_STRIDE,
        bloom_filter_columns=[1],
        bloom_filter_fpp=0.001,
        compression=compression,
    )


def _read(path: Path, kind: pa.DataType, domain: Domain) -> list[Value | None]:
    column = ColumnHandle("v", kind)
    predicate = TupleDomain.with_column_domains({column: domain})
    with orc_page_source(FileSystem(), whole_file(path, (column,), predicate=predicate)) as pages:
        found: list[Value | None] = pa.Table.from_batches(list(pages), pages.schema)["v"].to_pylist()
    return found


@settings(max_examples=examples(120), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_row_of_the_predicate_is_skipped(tmp_path: Path, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(list(_VALUES)))
    few = [data.draw(st.lists(st.none() | _VALUES[kind], min_size=1, max_size=4)) for _ in range(3)]
    values = [part[row % len(part)] for part in few for row in range(_STRIDE)][: data.draw(st.integers(2001, 3000))]
    compression = data.draw(st.sampled_from(["zstd", "zlib", "snappy", "lz4", "uncompressed"]))
    _write(tmp_path / "file", values, kind, compression)
    every = _read(tmp_path / "file", kind, Domain.all(kind))
    present = [value for value in every if value is not None]
    wanted = _VALUES[kind] | st.sampled_from(present) if present else _VALUES[kind]
    chosen = data.draw(st.lists(wanted, max_size=3))
    sets = [ValueSet.of(kind, chosen)]
    if chosen:
        sets.append(ValueSet.of_ranges(kind, [Range.greater_or_equal(kind, chosen[0])]))
        sets.append(ValueSet.of_ranges(kind, [Range.less_than(kind, chosen[0])]))
    domain = Domain.create(data.draw(st.sampled_from(sets)), data.draw(st.booleans()))
    found = _read(tmp_path / "file", kind, domain)
    assert [v for v in found if domain.includes_value(v)] == [v for v in every if domain.includes_value(v)]


@pytest.mark.parametrize(
    ("values", "absent"),
    [
        (pa.array([number * 2 for number in range(3000)]), 3001),
        (pa.array([number * 2 for number in range(3000)], pa.int32()), 3001),
        (pa.array([f"k{number * 2:05}" for number in range(3000)]), "k03001"),
        (pa.array([date(2000, 1, 1) + timedelta(2 * number) for number in range(3000)]), date(2004, 1, 1)),
    ],
)
def test_stripes_whose_filters_exclude_the_value_are_skipped(tmp_path: Path, values: pa.Array, absent: Value) -> None:
    shuffled = [values[number * 7 % 3000].as_py() for number in range(3000)]
    _write(tmp_path / "file", shuffled, values.type)
    assert _read(tmp_path / "file", values.type, Domain.single_value(values.type, absent)) == []
    assert len(_read(tmp_path / "file", values.type, Domain.single_value(values.type, shuffled[1500]))) == 3000
    below = Domain.create(ValueSet.of_ranges(values.type, [Range.less_than(values.type, absent)]), False)
    assert len(_read(tmp_path / "file", values.type, below)) == 3000


def test_stripes_are_skipped_where_values_lie_between_row_groups(tmp_path: Path) -> None:
    # pyorc writes no Bloom filter unless it is asked.
    with (
        (tmp_path / "file").open("wb") as file,
        pyorc.Writer(file, "struct<v:bigint>", row_index_stride=_STRIDE) as writer,
    ):
        writer.writerows((row + 1_000_000 * (row // _STRIDE),) for row in range(3000))
    between = Domain.create(
        ValueSet.of_ranges(pa.int64(), [Range.between(pa.int64(), 5000, True, 900_000, True)]), False
    )
    assert _read(tmp_path / "file", pa.int64(), between) == []
    assert len(_read(tmp_path / "file", pa.int64(), Domain.single_value(pa.int64(), 1_001_500))) == 3000
