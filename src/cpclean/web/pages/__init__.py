"""The pages for people: forms, templates and their words."""
