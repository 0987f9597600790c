"""What was found about systems and measures, as tables and sentences."""
