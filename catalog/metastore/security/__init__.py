"""How connections to a metastore are secured: SASL, TLS, HTTP. Knows no Thrift."""
