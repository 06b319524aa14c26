"""Strings as indices into a vocabulary."""

# pyright: reportCallIssue=false, reportArgumentType=false
# Attributes of modules may be tensors, for all that pyright knows.

import re

import torch
from torch import Tensor, nn


def strings_of(texts):
    """(shape, strings) of a nested list, or of a NumPy array.

    A tensor of uint32 has the UTF-8 bytes of each string along its last axis, four in an element.
    """
    if isinstance(texts, Tensor):
        rows = texts.cpu().contiguous().view(torch.uint8).flatten(0, -2).tolist()
        return texts.shape[:-1], [bytes(row).rstrip(b"\0").decode("utf-8", "surrogatepass") for row in rows]
    shape, level = [], [texts.tolist() if hasattr(texts, "tolist") else texts]
    while isinstance(level[0], (list, tuple)):
        shape.append(len(level[0]))
        level = [item for each in level for item in each]
    return shape, level


class StringLookup(nn.Module):
    """The index of each string; the first of `size` tokens has the index `first`, and others have `unknown`.

    The tokens are among the weights: the UTF-8 bytes of each in a row, then zeros.
    """

    def __init__(self, size, width, first, unknown, mask=None):
        super().__init__()
        self.register_buffer("tokens", torch.zeros(size, width, dtype=torch.uint8))
        self.first, self.unknown, self.mask = first, unknown, mask
        self.places = None

    def find(self, words):
        """The index of each word."""
        if self.places is None or self.places[0] != self.tokens._version:  # the tokens were loaded since
            rows = self.tokens.tolist()
            tokens = [bytes(row).rstrip(b"\0").decode("utf-8", "surrogatepass") for row in rows]
            found = {token: index for index, token in enumerate(tokens, self.first)}
            self.places = self.tokens._version, found | dict(self.mask or ())
        return [self.places[1].get(word, self.unknown) for word in words]

    def forward(self, texts):
        shape, strings = strings_of(texts)
        return torch.tensor(self.find(strings), device=self.tokens.device).view(*shape)


class TextVectorization(StringLookup):
    """The index of each word of texts, of each of which `split` makes a list of words."""

    def __init__(self, size, width, first, unknown, padding, split, length=None):
        super().__init__(size, width, first, unknown)
        self.padding, self.split, self.length = padding, split, length

    def forward(self, texts):
        shape, strings = strings_of(texts)
        rows = [self.find(self.split(text)) for text in strings]
        longest = self.length or max(map(len, rows))
        padded = [row[:longest] + [self.padding] * (longest - len(row)) for row in rows]
        return torch.tensor(padded, dtype=torch.int64, device=self.tokens.device).view(*shape[:1], longest)


class Splitting:
    """The words of a text, in ngrams of these sizes. Letters, spaces and punctuation are those of ASCII."""

    def __init__(self, lower, strip, characters, sizes):
        self.lower, self.strip, self.characters, self.sizes = lower, strip, characters, sizes

    def __call__(self, text):
        if self.lower:
            text = re.sub("[A-Z]+", lambda found: found[0].lower(), text)
        if self.strip:
            text = re.sub(r"[!-/:-@\[-`{-~]", "", text)
        words = list(text) if self.characters else re.findall(r"[^ \t\n\v\f\r]+", text)
        return [" ".join(words[at : at + size]) for size in self.sizes for at in range(len(words) - size + 1)]
