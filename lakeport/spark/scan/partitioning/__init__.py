"""How rows of scans lie, told to Spark so that joins move no rows."""
