"""What may be damage, or may be a file that somebody edited: an error, or a warning if the caller says so."""

from __future__ import annotations

import warnings

from torchkeras.errors import UnreadableFileError


def doubt(text: str, strict: bool) -> None:
    """Raise UnreadableFileError; if not `strict` warn, and go on."""
    if strict:
        raise UnreadableFileError(f"{text} If the file is known to be whole, strict=False takes it.")
    warnings.warn(f"{text} It is taken, since strict is False.", stacklevel=2)
