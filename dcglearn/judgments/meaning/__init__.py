"""What columns, answers and cells mean."""
