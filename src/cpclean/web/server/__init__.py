"""The process of a server.

    app         the application: guard, pages, API and live progress
    live        progress as server-sent events
    process     an address to listen on, start and end
    bounded_reading  an end to requests that never come in whole

`cpclean serve` starts it.
"""
