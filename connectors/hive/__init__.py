"""Tables of a Hive metastore: ORC and Parquet files in folders, partitioned or not."""
