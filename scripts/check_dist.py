"""What is wrong with the wheel and the sdist in a folder: each holds the package, its licence and nothing else.

check_dist.py FOLDER [VERSION]
"""

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
WHEEL_BYTES = 2_000_000  # source of the package alone, that of Keras 3's API among it: no data may slip in
INFO = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "top_level.txt"}
# scripts/write_stubs.py makes them; they are not under version control.
STUBS = {f"torchkeras/{name}/__init__.pyi" for name in ("layers", "losses", "metrics", "optimizers", "keras3/ops")}
SOURCE = {"LICENSE", "MANIFEST.in", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg"}


def package_files() -> set[str]:
    """The files of the package, those that git does not know yet among them, and the stubs."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "torchkeras"]
    return STUBS | set(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split())


def differences(name: str, found: set[str], wanted: set[str]) -> Iterator[str]:
    for words, files in (("lacks", wanted - found), ("holds besides", found - wanted)):
        if files:
            yield f"{name} {words}: {', '.join(sorted(files))}"


def wheel_problems(path: Path, package: set[str]) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        found = {name for name in archive.namelist() if not name.endswith("/")}
    info = "-".join(path.name.split("-")[:2]) + ".dist-info"
    wanted = package | {f"{info}/{name}" for name in INFO}
    size = path.stat().st_size
    large = [f"{path.name} has {size:,} bytes; the limit is {WHEEL_BYTES:,}"] if size > WHEEL_BYTES else []
    return [*differences(path.name, found, wanted), *large]


def sdist_problems(path: Path, package: set[str]) -> list[str]:
    with tarfile.open(path) as archive:
        members = {member.name.partition("/")[2] for member in archive if member.isfile()}
    found = {name for name in members if ".egg-info/" not in name}
    return list(differences(path.name, found, package | SOURCE))


def version_problems(wheel: Path, wanted: str = "") -> list[str]:
    version = wheel.name.split("-")[1]
    return [f"{wheel.name} is of version {version}, not {wanted}"] if wanted not in ("", version) else []


def main() -> None:
    folder, package = Path(sys.argv[1]), package_files()
    ((wheel,), (sdist,)) = (list(folder.glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
    wrong = wheel_problems(wheel, package) + sdist_problems(sdist, package)
    wrong += version_problems(wheel, *sys.argv[2:])
    if wrong:
        raise SystemExit("\n".join(wrong))
    print(f"{wheel.name}: {len(package)} files of the package, {wheel.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
