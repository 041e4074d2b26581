"""The metastore: its values, its contracts, and the clients that fulfil them."""
