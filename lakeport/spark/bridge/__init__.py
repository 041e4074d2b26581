"""The bridge between Python and the JVM: classes, proxies, types, rows, errors, versions."""
