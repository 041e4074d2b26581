"""The checks of the conformance suite, one module for each part of the contract."""
