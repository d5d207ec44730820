"""Spaces: from filled rows to what distances are taken of."""
