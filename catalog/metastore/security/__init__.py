"""Security of connections to a metastore: SASL, TLS, HTTP. Does not depend on Thrift."""
