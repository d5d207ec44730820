"""Room 8: experiments on published and freshly made incomplete tables."""
