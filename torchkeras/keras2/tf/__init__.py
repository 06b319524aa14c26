"""`import tensorflow`, where TensorFlow is not installed: what scripts of Keras take from it, computed by torch."""
