"""Which file slices a scan reads. Driver side."""
