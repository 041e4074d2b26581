"""Hive's bucketing: hashes, bucket numbers of files, and the check of rows against them."""
