"""Storage that is not S3: real servers of it on loopback."""
