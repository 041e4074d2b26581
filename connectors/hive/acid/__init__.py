"""Transactional (ACID) tables of Hive: which files and which of their rows belong to a snapshot."""
