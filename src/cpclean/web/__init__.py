"""The page where people clean together, and its JSON API: a server over a storage.

The rooms in the order in which they may import each other, each only from those above it:

    guard/    who is let in: tokens, cookies, CSRF, size limits, security headers; knows no table
    desk/     questions out, answers in; the engine that works ahead; what people and programs see
    api/      the desk for programs, as JSON        pages/   the desk for people, as forms
    server/   the application, live progress, and the process that listens
"""
