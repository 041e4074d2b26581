"""What Spark hands over while it plans, read in one round trip each."""
