"""What tools ask about catalogs by JDBC (``DatabaseMetaData``): catalogs, schemas, tables, columns."""
