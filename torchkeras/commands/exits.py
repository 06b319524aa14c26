"""The exit codes, the same for all commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from torchkeras import errors

WELL, FOUND, USAGE, ASKED, SYSTEM, INTERRUPTED = 0, 1, 2, 10, 11, 130

# The most exact class comes first.
OF_FILES: Mapping[type[errors.ModelFileError], int] = {
    errors.UnreadableFileError: 3,
    errors.UnknownFormatError: 4,
    errors.ForbiddenContentError: 5,
    errors.FileLimitError: 6,
    errors.ArchitectureError: 7,
    errors.WeightMismatchError: 8,
    errors.ModelFileError: 9,
}

MEANINGS: Mapping[int, str] = {
    WELL: "all is well",
    FOUND: "inspect: something suspicious; doctor: that, or it loads with options; verify: outputs differ; convert, "
    "eject: an unequal copy, which is not kept",
    USAGE: "the command line is wrong, a file is missing, or a file to write exists already",
    3: "UnreadableFileError: the file is damaged, cut short, or not of the format that its name says",
    4: "UnknownFormatError: it is of a format or version that is not read",
    5: "ForbiddenContentError: it holds what no model needs and an attack may use",
    6: "FileLimitError: it is over a limit of size, number, depth, time or memory",
    7: "ArchitectureError: its architecture is not one that can be built",
    8: "WeightMismatchError: its weights are not those of the model",
    9: "ModelFileError: it leaves something open that an option has to say",
    ASKED: "what is asked for cannot be done with this model, or needs a package that is missing",
    SYSTEM: "the operating system refused: no permission, no space, no memory",
    INTERRUPTED: "interrupted",
}

# What building and running a model may raise, apart from ValueError, for layers that do not work together.
FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError, RuntimeError, TypeError)


class CommandError(Exception):
    """An error of a command that is not the file's fault: the text, the kind of error and the exit code."""

    def __init__(self, text: str, code: int = USAGE):
        super().__init__(text)
        self.code = code

    @property
    def kind(self) -> str:
        """The kind of error, as `--json` names it."""
        return {USAGE: "UsageError", FOUND: "DifferenceError", SYSTEM: "SystemError"}.get(self.code, "RequestError")


def code_of(error: BaseException) -> int:
    """The exit code of an error."""
    if isinstance(error, CommandError):
        return error.code
    return next(code for kind, code in OF_FILES.items() if isinstance(error, kind))


def kind_of(error: BaseException) -> str:
    """The kind of an error, as `--json` names it."""
    return error.kind if isinstance(error, CommandError) else type(error).__name__


@contextmanager
def faults_of(path: object) -> Iterator[None]:
    """Turn whatever a file makes layers raise inside the block into an error of the file, or of the request.

    Raises ModelFileError, CommandError.
    """
    try:
        yield
    except (errors.ModelFileError, CommandError):
        raise
    except FileExistsError as error:
        raise CommandError(str(error)) from error
    except FileNotFoundError as error:
        raise CommandError(str(error) if error.errno is None else f"{path}: there is no such file.") from error
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}.", SYSTEM) from error
    except MemoryError as error:
        raise CommandError(f"{path}: there is not enough memory.", SYSTEM) from error
    except (ValueError, ImportError) as error:
        raise CommandError(str(error), ASKED) from error
    except FAULTS as error:
        raise errors.ArchitectureError(
            f"{path}: its model cannot be built or run ({type(error).__name__}: {error})."
        ) from error


def table() -> str:
    """The codes and their meanings, one per line."""
    return "\n".join(f"  {code:3}  {meaning}" for code, meaning in MEANINGS.items())
