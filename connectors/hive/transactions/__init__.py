"""Snapshots, locks and heartbeats of Hive transactions. Driver side."""
