"""The sample warehouse, and a tour through it."""
