"""Files of any usual format, compression and encoding, as columns."""
