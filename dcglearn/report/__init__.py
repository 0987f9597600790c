"""What was found, as tables and sentences."""
