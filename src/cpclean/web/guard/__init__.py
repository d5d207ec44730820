"""Who may use the server: every request passes here first.

    middleware, security       the guard, and its rules
    tokens, bounded_body       tokens and cookies; limits of size
    refusals, bare_pages       what is answered to requests that are refused; the login page

The guard knows nothing of tables and answers.
"""
