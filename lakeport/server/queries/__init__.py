"""The queries of a server's clients: seen, listed and killed."""
