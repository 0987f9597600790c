"""Which pairs to judge next, a page to judge them on, and when to stop."""
