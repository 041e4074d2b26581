"""The hive connector: tables of a Hive metastore, partitioned or not, transactional or not."""
