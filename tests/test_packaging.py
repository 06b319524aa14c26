"""One name to install by, one version; what the wheel and the sdist hold."""

import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

import torchkeras

ROOT = Path(__file__).parents[1]
PACKAGE = Path(torchkeras.__file__).parent
PROJECT = (ROOT / "pyproject.toml").read_text()
NAME = "torchkeras-graph"
OPTIONAL = PROJECT.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
EXTRAS = set(re.findall(r"^(\w+) = \[", OPTIONAL, re.M))


def test_the_version_is_said_once():
    assert 'dynamic = ["version"]' in PROJECT
    assert 'version = { attr = "torchkeras.__version__" }' in PROJECT
    assert not re.search(r'^version = "', PROJECT, re.M)
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.?\w+)?", torchkeras.__version__)


def test_extras_are_named_by_the_name_to_install_by():
    assert f'name = "{NAME}"' in PROJECT
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "pyproject.toml"]
    texts = {path.name: path.read_text() for path in (*pages, *PACKAGE.rglob("*.py"))}
    named = {
        (file, name, extra)
        for file, text in texts.items()
        for name, extras in re.findall(r"\b(torchkeras[\w-]*)\[([a-z,]+)\]", text)
        for extra in extras.split(",")
    }
    assert {"plot", "tensorboard", "safetensors", "yaml", "scripts", "onnx"} <= {extra for _, _, extra in named}
    assert [each for each in named if each[1] != NAME or each[2] not in EXTRAS] == []
    assert [file for file, text in texts.items() if re.search(r"pip install torchkeras(?!-graph)", text)] == []


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(*files: str) -> set[str]:
    """The packages with an exact version in these files."""
    text = "\n".join((ROOT / file).read_text() for file in files)
    return {canonical(name) for name in re.findall(r"^([\w.-]+)==[\w.+]+(?:;.*)?$", text, re.M)}


@pytest.mark.parametrize(
    ("extra", "files"),
    [
        ("test", ["constraints.txt"]),
        ("ecosystem", ["constraints.txt", "constraints-ecosystem.txt"]),
        ("docs", ["constraints.txt", "constraints-docs.txt"]),
    ],
)
def test_what_scripts_setup_installs_has_an_exact_version(extra: str, files: list[str]):
    """Else what CI runs changes without a change here; tests/ecosystem/test_environment.py sees all that is there."""
    listed = re.search(rf"^{extra} = \[(.*?)\]$", OPTIONAL, re.M | re.S)
    assert listed
    named = {canonical(name) for name in re.findall(r'"([\w.-]+)', listed[1])} - {NAME}
    assert named - pinned(*files) == set()


@pytest.fixture(scope="module")
def check_dist(script) -> Any:
    return script("scripts/check_dist.py")


def wheel(folder: Path, names: set[str], size: int = 0) -> Path:
    path = folder / "torchkeras_graph-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"")
        archive.writestr("torchkeras/a.py", b"0" * size)
    return path


@pytest.mark.parametrize(("besides", "package", "size", "said"), [
    (set(), {"torchkeras/a.py"}, 0, []),
    (set(), {"torchkeras/a.py", "torchkeras/b.pyi"}, 0, ["{} lacks: torchkeras/b.pyi"]),
    ({"tests/b.py"}, {"torchkeras/a.py"}, 0, ["{} holds besides: tests/b.py"]),
    (set(), {"torchkeras/a.py"}, 2_000_000, ["{} has N bytes; the limit is 2,000,000"]),
])  # fmt: skip
def test_what_is_wrong_with_a_wheel(besides, package, size, said, tmp_path, check_dist):
    info = {f"torchkeras_graph-0.1.0.dist-info/{name}" for name in check_dist.INFO}
    path = wheel(tmp_path, info | besides, size)
    found = [re.sub(r"has [\d,]+ bytes", "has N bytes", line) for line in check_dist.wheel_problems(path, package)]
    assert found == [line.format(path.name) for line in said]


def test_a_wheel_of_another_version_than_its_tag(tmp_path, check_dist):
    path = tmp_path / "torchkeras_graph-0.1.0-py3-none-any.whl"
    assert check_dist.version_problems(path) == check_dist.version_problems(path, "0.1.0") == []
    assert check_dist.version_problems(path, "0.2.0") == [f"{path.name} is of version 0.1.0, not 0.2.0"]


def test_what_is_wrong_with_an_sdist(tmp_path, check_dist):
    path = tmp_path / "torchkeras_graph-0.1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in (*(check_dist.SOURCE - {"LICENSE"}), "torchkeras/a.py", "x.egg-info/SOURCES.txt", "tests/b.py"):
            archive.addfile(tarfile.TarInfo(f"torchkeras_graph-0.1.0/{name}"))
    assert check_dist.sdist_problems(path, {"torchkeras/a.py"}) == [
        f"{path.name} lacks: LICENSE",
        f"{path.name} holds besides: tests/b.py",
    ]
