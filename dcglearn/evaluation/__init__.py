"""Systems under measures: qrels joined with runs, rules for open choices, tests."""
