"""A table's schema, its versions, and the way from one to another. Both sides."""
