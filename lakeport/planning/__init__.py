"""From a name to a planned scan; shared by Spark and by reads without it."""
