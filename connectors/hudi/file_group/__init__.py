"""File groups and file slices: which files hold a table's rows at an instant."""
