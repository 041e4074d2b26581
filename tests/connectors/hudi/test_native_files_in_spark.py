from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from tests.connectors.hudi.test_corpus import COW, opened
from tests.paths import CORPUS
from tests.rows import assert_same_table


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in COW if "alltypes" in case or "droppartcols" in case])
def test_spark_reads_native_files_alike(case: str, tmp_path: Path, spark: SparkSession) -> None:
    catalog = opened(CORPUS / "hudi" / f"{case}.zip", tmp_path)
    with catalog.metadata() as (transaction, metadata):
        [name] = metadata.list_tables(catalog.session, "s")
        table = metadata.get_table_handle(catalog.session, name)
        assert table is not None
        handles = metadata.get_column_handles(catalog.session, table)
        columns = tuple(column for column in handles.values() if not column.name.startswith("$"))
        native = [split.native_file for split in catalog.splits(transaction, table, columns)]
        ours = catalog.scan(transaction, metadata, table)
    files = [file for file in native if file is not None]
    assert len(files) == len(native) > 0
    for file in files:
        assert (file.start, file.length) == (0, file.file_size)
    constants = {name for file in files for name, _ in file.constants}
    in_file = ours.select([name for name in ours.column_names if name not in constants])
    schema = from_arrow_schema(in_file.schema)
    theirs = spark.read.schema(schema).parquet(*(file.path for file in files)).toArrow()
    assert_same_table(in_file, theirs)
