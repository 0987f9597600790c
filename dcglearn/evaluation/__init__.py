"""Values of systems under measures: qrels joined with runs, rules for open choices."""
