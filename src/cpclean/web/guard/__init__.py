"""Who may use the server: every request passes here first.

    middleware, security       the guard, and its rules
    tokens, wrong_tokens       tokens and cookies; who has tried many wrong ones
    roles                      what owners may do, and what those who answer
    prefixes                   applications below a prefix of the address
    bounded_body               limits of size
    refusals, bare_pages       what is answered to requests that are refused; the login page

The guard knows nothing of tables and answers.
"""
