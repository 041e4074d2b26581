"""A client of a server: its catalogs and SQL, over Spark Connect, with no Java here."""
