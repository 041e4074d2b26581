"""The tables of TPC-H, made once: plain Parquet and ORC, transactional ones, and those of Hudi by its Spark bundle.

Only ``lineitem`` and ``orders`` are changed after they are loaded. Plain files of a kind have the rows that are left.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import orc

from benchmarks.peers import tpch_bundle
from tests.connectors.hive.acid.writer import (
    bucket_file,
    bucket_property,
    delete_delta_name,
    delta_name,
    write_arrow_deletes,
    write_arrow_inserts,
)

__all__ = ["CHANGED", "TABLES", "make_lineitem", "make_tables"]

CHANGED = {"lineitem": "l_quantity", "orders": "o_totalprice"}
"""Tables that are changed, and the column that updates raise."""
TABLES = ("customer", *CHANGED, "nation", "part", "partsupp", "region", "supplier")

_PARTS = 2
"""Files of a table, and buckets of a transactional one, at scale 1 and below; of larger ones in proportion."""
_ROW_GROUP = 500_000
_HUDI_DELETED, _HUDI_UPSERTED, _UPSERTS = 0.02, 0.05, (2, 3)

Mask = npt.NDArray[np.bool_]


def make_tables(folder: Path, scale: float) -> None:
    """Makes what is not there yet.

    Args:
        folder: Gets a folder for each kind, with one for each table in it: ``orc``, ``acid``, ``parquet`` and, where
            ``BENCHMARK_HUDI_PYTHON`` and ``BENCHMARK_HUDI_BUNDLE`` name a Python with PySpark and the bundle, ``hudi``.
        scale: TPC-H's scale factor.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _once(folder / "raw", lambda target: _generate(target, scale))
    _once(folder / "acid", lambda target: _write_changed(folder, lambda *part: _write_acid(target, *part)))
    _once(folder / "orc", lambda target: _write_plain(folder, target, _acid_rows, _write_orc))
    _once(folder / "parquet", lambda target: _write_plain(folder, target, _hudi_rows, _write_parquet))
    python, jar = os.environ.get("BENCHMARK_HUDI_PYTHON"), os.environ.get("BENCHMARK_HUDI_BUNDLE")
    if python and jar:
        _once(folder / "upserts", lambda target: _write_changed(folder, lambda *part: _write_upserts(target, *part)))
        _once(folder / "hudi", lambda target: _write_hudi(folder, target, python, jar))


def make_lineitem(folder: Path, scale: float) -> Path:
    """The directory of the Parquet files of ``lineitem`` in the folder of ``make_tables``; made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    _once(folder / "raw", lambda target: _generate(target, scale, "--tables=lineitem"))
    return folder / "raw" / "lineitem"


def _once(target: Path, make: Callable[[Path], None]) -> None:
    """A folder is there in whole or not at all."""
    if target.exists():
        return
    print(f"making {target}", file=sys.stderr, flush=True)
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    partial.mkdir()
    make(partial)
    partial.rename(target)


def _generate(target: Path, scale: float, *more: str) -> None:
    tool = Path(sys.executable).with_name("tpchgen-cli")
    command = [
        str(tool),
        "parquet",
        "-s",
        str(scale),
        f"--parts={max(_PARTS, round(_PARTS * scale))}",
        f"--output-dir={target}",
        *more,
    ]
    subprocess.run(command, check=True, stdout=sys.stderr)


def _parts(folder: Path, table: str) -> Iterator[tuple[int, pa.Table]]:
    """The generated rows of each file; views of texts become texts, which ORC's writer knows."""
    for number, path in enumerate(sorted((folder / "raw" / table).iterdir())):
        rows = pq.read_table(path)
        texts = pa.types.is_string_view
        fields = [(field.name, pa.string() if texts(field.type) else field.type) for field in rows.schema]
        yield number, rows.cast(pa.schema(fields)).combine_chunks()


def _write_changed(folder: Path, write: Callable[[str, int, pa.Table], None]) -> None:
    for table in CHANGED:
        for number, rows in _parts(folder, table):
            write(table, number, rows)


def _write_plain(
    folder: Path,
    target: Path,
    left: Callable[[str, int, pa.Table], pa.Table],
    write: Callable[[Path, pa.Table], None],
) -> None:
    for table in TABLES:
        (target / table).mkdir()
        for number, rows in _parts(folder, table):
            write(target / table / f"part-{number:05}", left(table, number, rows) if table in CHANGED else rows)


def _write_orc(path: Path, rows: pa.Table) -> None:
    orc.write_table(rows, f"{path}.orc", compression="zlib")


def _write_parquet(path: Path, rows: pa.Table) -> None:
    pq.write_table(rows, f"{path}.parquet", row_group_size=_ROW_GROUP)


def _acid_changes(number: int, count: int) -> tuple[tuple[Mask, Mask], Mask]:
    """The rows that each of two statements deletes, a fortieth, and those that one updates, a fiftieth."""
    drawn = np.random.default_rng(number).random(count)
    return (drawn < 0.025, (drawn >= 0.025) & (drawn < 0.05)), (drawn >= 0.05) & (drawn < 0.07)


def _acid_rows(table: str, number: int, rows: pa.Table) -> pa.Table:
    (first, second), updated = _acid_changes(number, rows.num_rows)
    kept = rows.filter(pa.array(~(first | second | updated)))
    return pa.concat_tables([kept, _raised(table, rows.filter(pa.array(updated)), 1)]).combine_chunks()


def _write_acid(target: Path, table: str, number: int, rows: pa.Table) -> None:
    folder, name, own = target / table, bucket_file(number, 0), bucket_property(number)
    deletes, updated = _acid_changes(number, rows.num_rows)
    write_arrow_inserts(folder / delta_name(1, 1, 0) / name, rows, 1, own)
    for write_id, mask in enumerate((*deletes, updated), 2):
        row_ids = np.flatnonzero(mask).astype(np.int64)
        keys = (np.full(row_ids.size, 1, np.int64), np.full(row_ids.size, own, np.int64), row_ids)
        write_arrow_deletes(folder / delete_delta_name(write_id, write_id, 0) / name, keys, write_id, rows.schema)
    fresh = _raised(table, rows.filter(pa.array(updated)), 1)
    write_arrow_inserts(folder / delta_name(write_id, write_id, 0) / name, fresh, write_id, own)


def _hudi_changes(number: int, count: int) -> tuple[Mask, dict[int, Mask]]:
    """The rows that are deleted at last, and those of each upsert before, by its ordering value."""
    random = np.random.default_rng(number)
    return random.random(count) < _HUDI_DELETED, {n: random.random(count) < _HUDI_UPSERTED for n in _UPSERTS}


def _hudi_rows(table: str, number: int, rows: pa.Table) -> pa.Table:
    deleted, upserted = _hudi_changes(number, rows.num_rows)
    change = np.zeros(rows.num_rows, np.int64)
    for ordering, mask in upserted.items():
        change[mask] = ordering
    change[deleted] = -1
    kept = [rows.filter(pa.array(change == 0))]
    kept += [_raised(table, rows.filter(pa.array(change == ordering)), ordering) for ordering in upserted]
    return pa.concat_tables(kept).combine_chunks()


def _write_upserts(target: Path, table: str, number: int, rows: pa.Table) -> None:
    deleted, upserted = _hudi_changes(number, rows.num_rows)
    written = {f"upsert-{n}": _raised(table, rows.filter(pa.array(mask)), n) for n, mask in upserted.items()}
    written["delete-9"] = rows.filter(pa.array(deleted))
    for name, chosen in written.items():
        folder = target / table / name
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(chosen, folder / f"part-{number:05}.parquet")


def _write_hudi(folder: Path, target: Path, python: str, jar: str) -> None:
    command = [python, str(Path(tpch_bundle.__file__)), jar, str(folder), str(target)]
    # PySpark looks for the Python of its tasks there.
    subprocess.run(command, check=True, stdout=sys.stderr, env={**os.environ, "PYSPARK_PYTHON": python})


def _raised(table: str, rows: pa.Table, by: int) -> pa.Table:
    name = CHANGED[table]
    column = rows.column(name)
    raised = pc.add(column, pa.scalar(Decimal(by), pa.decimal128(3, 0))).cast(column.type)
    return rows.set_column(rows.column_names.index(name), name, raised)
