"""`keras.wrappers`: models among other libraries."""
