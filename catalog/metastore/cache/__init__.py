"""What a catalog keeps of its metastore: how long, for which users, and when it is forgotten."""
