"""A measure for other tools: parameters, commands, text and callable objects."""
