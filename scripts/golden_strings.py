"""Make tests/golden/strings: models whose inputs are strings, with their outputs.

python scripts/golden_strings.py FOLDER keras|tf_keras      with Keras 3.15 on TensorFlow, or tf_keras 2.21
"""

import importlib
import os
import sys

import numpy as np

folder, which = sys.argv[1:]
os.environ["CUDA_VISIBLE_DEVICES"] = ""
keras, tf = importlib.import_module(which), importlib.import_module("tensorflow")
layers = keras.layers

texts = [["a great movie"], ["no fun at all"], ["great é fun"], ["unknown words here ok then more"]]
colours = [["red"], ["green"], ["blue"], ["x"]]
known = [row[0] for row in texts[:3]]

keras.utils.set_random_seed(0)
text = keras.Input((1,), dtype="string", name="text")
note = keras.Input((), dtype="string", name="note")
colour = keras.Input((1,), dtype="string", name="colour")
words = layers.TextVectorization(max_tokens=50, output_sequence_length=5, name="words")
words.adapt(known)
counts = layers.TextVectorization(output_mode="tf_idf", ngrams=2, name="counts")
counts.adapt(known)
read = layers.Embedding(10, 4, mask_zero=True, embeddings_initializer="uniform")(words(text))
joined = layers.Concatenate()(
    [
        layers.GlobalAveragePooling1D()(read),
        counts(note),
        layers.StringLookup(vocabulary=["red", "blue"], output_mode="one_hot", name="lookup")(colour),
        layers.Flatten()(layers.CategoryEncoding(5, "one_hot")(layers.Hashing(5, name="hash")(colour))),
    ]
)
model = keras.Model([text, note, colour], layers.Dense(2, name="out")(joined))
inputs = [tf.constant(texts), tf.constant([row[0] for row in texts]), tf.constant(colours)]
model.save(os.path.join(folder, f"{which}.keras"))
np.save(os.path.join(folder, f"{which}.npy"), model.predict(inputs, verbose=0))
