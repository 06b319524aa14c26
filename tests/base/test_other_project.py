"""Files of the other project called `torchkeras` among ours are an error that says what to uninstall."""

import subprocess
import sys
from pathlib import Path

import pytest
from test_public_modules import OF_KERAS, PUBLIC

import torchkeras
from torchkeras.base.other_project import FILES_OF_THE_OTHER

PACKAGE = Path(torchkeras.__file__).parent
# How the other project's own `__init__` begins, from its version 3 on.
THEIR_INIT = "try:\n    from torchkeras.utils import colorful\nexcept Exception as err:\n    print(err)\n"


def together(folder: Path, theirs: str) -> Path:
    """A folder `torchkeras` with the files of both projects; `__init__.py` is ours."""
    package = folder / "torchkeras"
    package.mkdir()
    for path in PACKAGE.iterdir():
        (package / path.name).symlink_to(path)
    (package / theirs).touch()
    return package


def errors_of(imports: list[str], folder: Path) -> list[str]:
    code = "import importlib\n"
    code += f"for name in {imports}:\n"
    code += "    try:\n        importlib.import_module(name)\n    except ImportError as error:\n        print(error)\n"
    ended = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return ended.stdout.splitlines()


def message(package: Path, theirs: str) -> str:
    return (
        f"torchkeras-graph: {package} also holds files of another project, `torchkeras` ({theirs}). Run `pip uninstall "
        "torchkeras torchkeras-graph`, then install the one that you want: `pip install torchkeras-graph`."
    )


@pytest.mark.parametrize("theirs", FILES_OF_THE_OTHER)
def test_ours_installed_over_theirs(theirs: str, tmp_path: Path):
    package = together(tmp_path, theirs)
    assert errors_of(["torchkeras", "torchkeras.layers"], tmp_path) == [message(package, theirs)] * 2


def test_theirs_installed_over_ours(tmp_path: Path):
    package = together(tmp_path, "kerasmodel.py")
    (package / "__init__.py").unlink()
    (package / "__init__.py").write_text(THEIR_INIT)
    modules = [name for name in PUBLIC if name not in ("torchkeras", "torchkeras.errors")]
    assert {f"torchkeras.{name}" for name in OF_KERAS} < set(modules)
    # Their `__init__` prints the first one.
    assert errors_of(modules, tmp_path) == [message(package, "kerasmodel.py")] * (1 + len(modules))


def test_no_file_of_ours_is_taken_for_theirs():
    assert [name for name in FILES_OF_THE_OTHER if (PACKAGE / name).exists()] == []
