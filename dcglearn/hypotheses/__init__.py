"""What a team asks of its judgments: tests of models, of measures and of groups of judgments."""
