"""Makes a directory of files a table of the metastore. Driver side."""
