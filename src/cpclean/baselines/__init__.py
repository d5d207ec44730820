"""Room 4: what people do instead of cleaning row by row."""
