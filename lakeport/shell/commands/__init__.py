"""The shell's own commands, which begin with a backslash."""
