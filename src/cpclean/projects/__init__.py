"""A task and its settings as bytes that any machine opens."""
