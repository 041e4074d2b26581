"""Avro files: a reader's schema resolved against the writer's, as far as Hive does."""
