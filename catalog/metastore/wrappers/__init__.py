"""Metastore clients around other clients: read-only, impersonating, checked for reach."""
