"""Storage: the event log and leases of a project, and plain files of answers.

    contract, events, checks          what all storages promise, save and refuse
    opening                           from a URL or a path to a storage
    memory, sqlite, postgres          the storages
    sql, schema, leasing              what the two databases have in common
    ledger, row_states                what follows from a log, and from the events about one row
    following                         a session that follows a log
    journal, journal_lines, saved_session    the file of answers of `cpclean clean`
    locking, turns                    locks on files; turns of threads

What a project is made of is in `cpclean.projects`.
"""
