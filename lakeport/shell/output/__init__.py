"""Results as text: tables, formats for programs, the pager."""
