"""Values of a file's types as values of a table's types, as Hive turns them."""
