"""Files of any usual format, as tables of columns."""
