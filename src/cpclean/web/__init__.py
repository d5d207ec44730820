"""The page where people clean together: questions, answers, progress; a server over a storage."""
