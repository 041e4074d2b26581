"""A table at one instant. Driver side."""
