"""Which directories and files of a transactional table a snapshot reads. Driver side."""
