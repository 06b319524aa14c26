"""`CSVLogger`: a row an epoch."""

import csv
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torchkeras.base.rules import FLAG_OR_DIGIT, read, read_path, rule
from torchkeras.callbacks.base import Callback
from torchkeras.callbacks.logs import numbers

CHARACTER = rule("must be one character", lambda v: isinstance(v, str) and len(v) == 1)


class CSVLogger(Callback):
    """Writes a row for each epoch: `epoch`, then the numbers of the logs in alphabetical order, as Keras 2.2.4 does.

    The columns are the names of the first epoch's numbers, and of the validation's if there is one. A number that an
    epoch does not have is `NA`. Lines end with a carriage return and a newline. Training that continues after a stop
    drops rows written after the state that it continues from.

    Options:
        filename (path): the file.
        separator (one character, default ","): what stands between two columns.
        append (bool, default False): whether to append to an existing file. Its header stays; a RuntimeWarning says
            when its columns differ.

    Errors:
        OSError: the file cannot be written; the error names it.
        TypeError: `filename` is no path.
        ValueError: an option has a bad value.

    Example:
        >>> CSVLogger("log.csv", separator=";").filename
        'log.csv'

    Source: https://keras.io/api/callbacks/csv_logger/
    """

    main_only = True
    keeps_records = True

    def __init__(self, filename: str | os.PathLike[str], separator: str = ",", append: bool = False):
        self.filename = read_path("CSVLogger", "filename", filename)
        self.sep = read("CSVLogger", "separator", CHARACTER, separator)
        self.append = read("CSVLogger", "append", FLAG_OR_DIGIT, append)
        self.keys: list[str] | None = None
        self._begun = False

    @property
    def separator(self) -> str:
        """`sep`, as the option is called."""
        return self.sep

    @separator.setter
    def separator(self, value: str) -> None:
        self.sep = read("CSVLogger", "separator", CHARACTER, value)

    def on_train_begin(self, logs: Any = None) -> None:
        # A missing folder fails here. The file is cleared with the first row, since after a stop its rows may belong
        # to this run.
        with self._open():
            pass
        self.keys, self._begun = None, False

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        logs = numbers(logs)
        if self.keys is None:
            self.keys = self._columns(logs)
        columns = ["epoch", *self.keys]
        with self._open() as file:
            if not self._begun:
                self._begin(file, columns)
            row = {"epoch": epoch, **{key: _cell(logs.get(key, "NA")) for key in self.keys}}
            csv.DictWriter(file, columns, delimiter=self.sep).writerow(row)

    def on_train_end(self, logs: Any = None) -> None:
        if not self._begun and not self.append:
            os.truncate(self.filename, 0)

    def state_dict(self) -> dict[str, Any]:
        size = os.path.getsize(self.filename) if self._begun else 0
        return {"keys": None if self.keys is None else list(self.keys), "size": size}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        if set(state) != {"keys", "size"}:
            found = ", ".join(sorted(state)) or "nothing"
            raise ValueError(f"CSVLogger: the state must hold keys, size; found {found}.")
        if state["size"] and os.path.getsize(self.filename) >= state["size"]:
            os.truncate(self.filename, state["size"])
            self.keys, self._begun = list(state["keys"]), True

    @contextmanager
    def _open(self) -> Iterator[Any]:
        try:
            with open(self.filename, "a+", newline="", encoding="utf-8") as file:
                yield file
        except OSError as error:  # the error of a full disk has no name
            error.filename = error.filename or self.filename
            raise

    def _columns(self, logs: Mapping[str, Any]) -> list[str]:
        """The columns beside the epoch, from the numbers of the first one."""
        return sorted({*logs, *self._of_validation()})

    def _of_validation(self) -> list[str]:
        names = self.params.get("metrics") or ()
        return [name for name in names if name.startswith("val_")] if self.params.get("do_validation") else []

    def _begin(self, file: Any, columns: list[str]) -> None:
        """Clear the file, or look at what is there; write the head where there is none."""
        self._begun = True
        if not self.append:
            file.truncate(0)
        file.seek(0)
        first = file.readline()
        if not first:
            csv.DictWriter(file, columns, delimiter=self.sep).writeheader()
            return
        found = next(csv.reader([first], delimiter=self.sep))
        if found != columns:
            warnings.warn(
                f"CSVLogger: {self.filename} has the columns {', '.join(found)}; the rows that are added have "
                f"{', '.join(columns)}.",
                RuntimeWarning,
                stacklevel=3,
            )


def _cell(value: Any) -> Any:
    """A value as Keras writes it: what has axes as a list between quotation marks."""
    if isinstance(value, str) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        return value
    return f'"[{", ".join(map(str, value))}]"'
