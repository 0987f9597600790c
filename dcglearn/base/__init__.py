"""What every other package here needs: errors, files, threads, workers, progress, array types."""
