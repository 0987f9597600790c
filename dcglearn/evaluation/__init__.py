"""Systems under measures: qrels joined with runs, rules, tests."""
