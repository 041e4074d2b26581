"""One scan: what Spark pushes, who reads, and the input partitions. Driver side."""
