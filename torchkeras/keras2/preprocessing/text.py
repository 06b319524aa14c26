"""`keras.preprocessing.text`: texts to words and numbers."""

from torchkeras.keras2.preprocessing.frozen import text

Tokenizer = text.Tokenizer
hashing_trick = text.hashing_trick
one_hot = text.one_hot
text_to_word_sequence = text.text_to_word_sequence
