"""How sure: a model of the judgment, its estimates, intervals and tests."""
