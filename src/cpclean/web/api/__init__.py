"""The JSON API for programs.

    endpoints, requests        the addresses; requests, checked
    messages, operations       what goes in and out; what each call does
    openapi                    the description of the API
    labelstudio                tasks for Label Studio, and its annotations

Messages are declared once, for checks and for the description.
"""
