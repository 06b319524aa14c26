"""The errors of model files, and the warning of likely mistakes.

ModelFileError                a file that cannot be loaded, and why
├── UnreadableFileError       it is damaged, cut short, or not of the format that its name says
├── UnknownFormatError        it is whole, but of a format or version that is not read
├── ForbiddenContentError     it holds what no model needs: a link, external storage, an unknown filter, bytecode, ...
├── FileLimitError            it is over a limit of size, number, depth, time or memory
├── ArchitectureError         its architecture is not one that can be built
└── WeightMismatchError       its weights are not those of the model
"""

from __future__ import annotations

__all__ = [
    "ArchitectureError",
    "FileLimitError",
    "ForbiddenContentError",
    "LikelyMistakeWarning",
    "ModelFileError",
    "UnknownFormatError",
    "UnreadableFileError",
    "WeightMismatchError",
]


class ModelFileError(ValueError):
    """A model file that cannot be loaded. The text names the file, the place in it, what was expected and found."""


class UnreadableFileError(ModelFileError):
    """A file that is damaged, cut short, or not of the format that its name says."""


class UnknownFormatError(ModelFileError):
    """A file whose format, or the version or backend that wrote it, is not supported."""


class ForbiddenContentError(ModelFileError):
    """A file with content that no model needs and an attack may use; refused before a byte of it is read."""


class FileLimitError(ModelFileError):
    """A file beyond a limit of size, number of members, length of names, depth, time or memory."""


class ArchitectureError(ModelFileError):
    """An architecture that cannot be built: an unknown class or option, a call of something that does not exist."""


class WeightMismatchError(ModelFileError):
    """The weights in a file are not those of the model: their number, names or shapes differ."""


class LikelyMistakeWarning(UserWarning):
    """What `fit` warns of once after `compile`: it trains, but most likely not as meant, such as softmax applied twice.

    `warnings.filterwarnings("ignore", category=torchkeras.errors.LikelyMistakeWarning)` turns it off.
    """
