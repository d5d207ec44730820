"""Which row to clean next, and when to stop."""
