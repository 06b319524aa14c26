"""Runs code as scripts under `import keras`, each in a process of its own: a fork of one that has imported all.

`Forks` starts that process when the first script is run; what it is told and tells are lines of JSON.
"""

import atexit
import json
import os
import subprocess
import sys
import tempfile
import traceback
import types
import warnings
from typing import Any, NamedTuple, NoReturn


class Ended(NamedTuple):
    """How a script ended."""

    returncode: int
    stdout: str
    stderr: str


class Forks:
    """Runs scripts by a process that is kept, to which `import torchkeras.as_keras` is an old story."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, code: str, folder: Any = None, *, strict: bool = False) -> Ended:
        """Run `code` in `folder`; `strict`: a warning is an error."""
        if self._process is None:
            command = [sys.executable, __file__]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            atexit.register(self._close)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        told = {"code": code, "folder": None if folder is None else str(folder), "strict": strict}
        print(json.dumps(told), file=self._process.stdin, flush=True)
        return Ended(*json.loads(self._process.stdout.readline()))

    def _close(self) -> None:
        assert self._process is not None
        self._process.communicate()  # it ends with what it reads


FORKS = Forks()


def passed(code: str, folder: Any = None) -> str:
    """What `code` prints under `import keras`, where a warning is an error; it has to end without one."""
    found = FORKS.run(code, folder, strict=True)
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


def _serve() -> None:
    __import__("torchkeras.as_keras")
    for name in ("keras.layers", "keras.models", "keras.backend", "keras.optimizers", "keras.engine", "keras.legacy"):
        __import__(name)
    for line in sys.stdin:
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            child = os.fork()
            if not child:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                _run(**json.loads(line))
            _, status = os.waitpid(child, 0)
            said = [os.waitstatus_to_exitcode(status)]
            for file in (out, err):
                file.seek(0)
                said.append(file.read())  # type: ignore[arg-type]
        print(json.dumps(said), flush=True)


def _run(code: str, folder: str | None, strict: bool) -> NoReturn:
    ended = 0
    try:
        if folder is not None:
            os.chdir(folder)
        if strict:
            warnings.simplefilter("error")
        main = types.ModuleType("__main__")
        sys.modules["__main__"], sys.argv = main, ["-c"]
        exec(compile(code, "<string>", "exec"), main.__dict__)  # noqa: S102 - the tests' own code
    except BaseException:  # noqa: BLE001 - what ends a script, be it sys.exit
        traceback.print_exc()
        ended = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(ended)


if __name__ == "__main__":
    _serve()
