"""Reads data files of transactional tables: deletes, visibility, changes. Executor side."""
