"""Who may come in to the server, by what they show, and as whom."""
