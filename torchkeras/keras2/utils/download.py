"""`get_file`: a file from the network, kept in a folder, checked by its hash and unpacked if asked for."""

from __future__ import annotations

import hashlib
import os
import tarfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from torchkeras.base.atomic_file import replacing
from torchkeras.keras2.renamed import renamed
from torchkeras.keras2.utils.progbar import Progbar

CHUNK = 65536  # bytes


def get_file(
    fname: str,
    origin: str,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: Any = "auto",
    cache_dir: str | None = None,
) -> str:
    """The path of a file that is downloaded unless it is there.

    Arguments:
        fname (text): the name of the file; a whole path stands for itself.
        origin (text): the address that it comes from.
        untar (bool, default False): whether it is a tar archive, kept as `fname` + ".tar.gz" and unpacked beside it.
            What is unpacked already is taken as it is.
        md5_hash (text or None, default None): the file's MD5 hash; the old name of `file_hash`.
        file_hash (text or None, default None): the file's hash. A file that is there with another one is downloaded.
        cache_subdir (text, default "datasets"): the folder inside `cache_dir`.
        hash_algorithm (text, default "auto"): "sha256", "md5", or "auto" by the length of the hash.
        extract (bool, default False): whether an archive is unpacked into its folder.
        archive_format (text, list or None, default "auto"): "tar", "zip", a list of these, "auto" for both, None for
            none.
        cache_dir (path or None, default None): None is `$KERAS_HOME`, else `~/.keras`.

    Returns:
        The path of the file as text; with `untar` that of what was unpacked.

    Errors:
        OSError: the file cannot be downloaded or written.
        ValueError: the hash of what was downloaded is another, or an archive has a member outside of its folder.
    """
    if md5_hash is not None and file_hash is None:
        file_hash, hash_algorithm = md5_hash, "md5"
    folder = Path(cache_dir or os.environ.get("KERAS_HOME") or Path("~", ".keras")).expanduser() / cache_subdir
    folder.mkdir(parents=True, exist_ok=True)
    found = folder / fname
    path = folder / f"{fname}.tar.gz" if untar else found
    if untar and not path.exists() and found.exists():
        return str(found)
    if not _is_there(path, file_hash, hash_algorithm):
        _download(origin, path, file_hash, hash_algorithm)
    if untar and not found.exists():
        unpack(path, folder, "tar")
    elif extract and not untar:
        unpack(path, folder, archive_format)
    return str(found)


def _is_there(path: Path, file_hash: str | None, algorithm: str) -> bool:
    """Whether a file exists and has its hash, if there is one; prints that another one is not what is wanted."""
    if not path.exists():
        return False
    if file_hash is None or validate_file(path, file_hash, algorithm):
        return True
    print(f"{path} has another hash than {file_hash}: it is incomplete or outdated, and is downloaded again.")
    return False


def _download(origin: str, path: Path, file_hash: str | None, algorithm: str) -> None:
    print("Downloading data from", origin)
    by_hand = f"Without a network, put the file there by hand: {path}"
    with replacing(path) as part:
        try:
            _fetch(origin, part)
        except HTTPError as error:
            raise OSError(f"URL fetch failure on {origin}: {error.code} -- {error.msg}. {by_hand}") from error
        except URLError as error:
            raise OSError(f"URL fetch failure on {origin}: {error.reason}. {by_hand}") from error
        if file_hash is not None and not validate_file(part, file_hash, algorithm):
            found = _hash_file(part, _algorithm(file_hash, algorithm))
            raise ValueError(f"{origin}: the file has the hash {found}, which is not {file_hash}; it is not kept.")


def _fetch(origin: str, path: Path) -> None:
    with urlopen(origin) as response, path.open("wb") as file:
        size = response.headers.get("Content-Length")
        bar = Progbar(int(size) if size and int(size) else None)
        while chunk := response.read(CHUNK):
            file.write(chunk)
            bar.add(len(chunk))


def unpack(path: str | os.PathLike[str], folder: str | os.PathLike[str], archive_format: Any = "auto") -> bool:
    """Unpack an archive into a folder; False when it is none of the formats (`archive_format` of `get_file`).

    ValueError for a member that would lie, or point, outside of the folder; nothing is unpacked then.
    """
    formats = ["tar", "zip"] if archive_format == "auto" else archive_format or []
    for name in [formats] if isinstance(formats, str) else formats:
        if name == "tar" and tarfile.is_tarfile(path):
            _unpack_tar(path, folder)
            return True
        if name == "zip" and zipfile.is_zipfile(path):
            _unpack_zip(path, folder)
            return True
    return False


def _unpack_tar(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> None:
    with tarfile.open(path) as archive:
        try:
            members = [tarfile.data_filter(member, str(folder)) for member in archive.getmembers()]
        except tarfile.FilterError as error:
            raise ValueError(f"{path}: {error}; nothing is unpacked.") from error
        archive.extractall(folder, members, filter="data")


def _unpack_zip(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> None:
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            inside = PurePosixPath(member.replace("\\", "/"))
            if inside.is_absolute() or ".." in inside.parts or ":" in inside.parts[0]:
                raise ValueError(f"{path}: {member!r} is outside the folder; nothing is unpacked.")
        archive.extractall(folder)


def _algorithm(file_hash: Any, algorithm: str) -> str:
    """The algorithm of a hash: SHA-256 has 64 digits."""
    if algorithm != "auto":
        return algorithm
    return "sha256" if len(str(file_hash)) == 64 else "md5"


def _hash_file(fpath: str | os.PathLike[str], algorithm: str = "sha256", chunk_size: int = CHUNK) -> str:
    """The hash of a file in hexadecimal digits, by "sha256" or "md5"."""
    hasher = hashlib.new(algorithm, usedforsecurity=False)
    with open(fpath, "rb") as file:
        while chunk := file.read(chunk_size):
            hasher.update(chunk)
    return hasher.hexdigest()


@renamed(md5_hash="file_hash")
def validate_file(
    fpath: str | os.PathLike[str], file_hash: str, algorithm: str = "auto", chunk_size: int = CHUNK
) -> bool:
    """Whether a file has a hash; `algorithm` is "sha256", "md5", or "auto" by the length of the hash."""
    return _hash_file(fpath, _algorithm(file_hash, algorithm), chunk_size) == str(file_hash)
