"""Systems compared: tests of differences, orderings by two measures, coherence of systems."""
