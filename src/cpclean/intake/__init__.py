"""From files and choices to a task, and back: answers written into the file as it was."""
