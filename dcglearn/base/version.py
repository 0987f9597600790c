"""The version of the installed package."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("dcglearn")
except PackageNotFoundError:  # run from a folder that is not installed
    __version__ = "0+unknown"
