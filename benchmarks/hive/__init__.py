"""What tables of Hive cost."""
