"""From pairs of rankings to the gains and discounts of a DCG, and what the pairs determine."""
