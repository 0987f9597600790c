"""What an experiment is: its config, the settings it visits, and its cells."""
