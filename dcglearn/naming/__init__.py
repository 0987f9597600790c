"""From a name to a measure: presets of the literature, full names, measure files."""
