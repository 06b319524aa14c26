"""Puts this folder on the path, so that tests in its rooms import the modules that they share."""
