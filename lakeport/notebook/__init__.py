"""Lakeport in Jupyter: ``%load_ext lakeport``."""
