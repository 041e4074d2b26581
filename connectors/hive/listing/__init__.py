"""From partitions to the data files of a scan. Driver side."""
