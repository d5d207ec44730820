"""Room 2: questions about every world of an incomplete dataset, answered exactly."""
