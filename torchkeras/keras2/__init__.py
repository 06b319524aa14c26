"""Keras 1's and 2's surface for scripts: an annex, imported only by who asks for it."""
