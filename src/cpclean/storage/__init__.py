"""Answers kept where a killed process does not lose them."""
