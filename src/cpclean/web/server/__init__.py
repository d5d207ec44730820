"""The process of a server.

    app              the application: guard, pages, API and live progress
    several          several projects beside each other, and a first page that lists them
    live, health     progress as server-sent events; whether the database answers
    process          an address to listen on, start and end
    bounded_reading  an end to requests that never come in whole

`cpclean serve` starts it.
"""
