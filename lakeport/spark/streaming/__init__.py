"""Tables as sources of Spark's structured streaming."""
