"""What every other room needs and no library gives."""
