"""The fields of judgments: which column is which, what answers and grades in files mean."""
