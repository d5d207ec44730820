"""Room 1: from what a person has to an incomplete dataset."""
