"""What Spark's optimizer gets to know of scans."""
