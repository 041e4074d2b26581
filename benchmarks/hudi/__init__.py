"""What tables of Hudi cost."""
