"""From files to coded judgments."""
