"""The sample warehouse, and the tour through it."""
