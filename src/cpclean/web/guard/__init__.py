"""Who may use the page: every request passes here first. Knows nothing of tables and answers."""
