"""`import tensorflow` for scripts of TensorFlow 2 and tf.keras, computed by torch."""
