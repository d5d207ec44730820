"""The process behind the page: the application, the guard, live updates."""
