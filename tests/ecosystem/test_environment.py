"""What scripts/setup ecosystem installs is what the constraints say: tomorrow it is the same."""

import re
from importlib.metadata import distributions
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FILES = ("constraints.txt", "constraints-ecosystem.txt")
# This package, what installs, and what a build of torch for CUDA asks for by exact versions itself.
OTHERS = re.compile(r"torchkeras-graph|pip|setuptools|triton|nvidia-.*|cuda-.*")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_package_has_the_version_that_is_written_down():
    pins = dict(re.findall(r"^([\w.-]+)==([\w.+]+)", "\n".join((ROOT / file).read_text() for file in FILES), re.M))
    pins = {canonical(name): version for name, version in pins.items()}
    found = {canonical(each.metadata["Name"]): each.version.partition("+")[0] for each in distributions()}
    assert {
        name: version for name, version in found.items() if pins.get(name) != version and not OTHERS.fullmatch(name)
    } == {}
