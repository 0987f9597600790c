"""The folder and the page of an experiment."""
