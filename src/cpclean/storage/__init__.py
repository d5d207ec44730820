"""Saved answers: the event log and its leases, backends for it, and a plain file."""
