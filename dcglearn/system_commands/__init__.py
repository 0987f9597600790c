"""Commands on qrels, runs and measures: options in, text out."""
