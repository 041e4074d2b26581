"""A Hive metastore over Thrift; the only package that imports the Thrift library."""
