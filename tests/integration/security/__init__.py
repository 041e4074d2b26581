"""Metastores of Hive that are secured, for real."""
