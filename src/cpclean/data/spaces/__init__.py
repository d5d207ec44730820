"""Spaces: from filled rows to what distances are taken of.

table_space    what a table needs of any space
features       how one column is encoded
plain          scaled columns side by side
"""
