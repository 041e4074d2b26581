"""Transactional (ACID) tables of Hive: which files hold the rows of a snapshot, and which rows of them."""
