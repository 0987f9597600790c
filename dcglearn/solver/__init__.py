"""From pairs to a confirmed optimum W."""
