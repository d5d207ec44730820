"""Questions out, answers in, and the engine that works ahead."""
