"""Tables and figures of what was found."""
