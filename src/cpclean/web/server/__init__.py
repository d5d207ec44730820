"""The process of a server.

    app         the application: guard, pages, API and live progress
    live        progress as server-sent events
    process     an address to listen on, start and end

`cpclean serve` starts it.
"""
