"""From pairs of rankings to a DCG."""
