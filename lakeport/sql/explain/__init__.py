"""``EXPLAIN``: what is asked, the facts that answer it, and their text and JSON. No Spark here."""
