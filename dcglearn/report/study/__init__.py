"""One page for a team: what its judgments say, how sure that is, and what to do."""
