"""Files of every kind, opened with care and written whole or not at all."""
